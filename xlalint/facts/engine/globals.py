"""Queries about the top-level names of files: what they hold where no call tells."""

from __future__ import annotations

from xlalint.facts.domain.values import HOST, UNKNOWN, Tensor, Value
from xlalint.facts.engine.attributes import CALL_DEPTH_FOR_ATTRIBUTES, ONLY_CONSTANTS, Attributes
from xlalint.facts.interpreter.names import symbol_value
from xlalint.facts.state.environment import Environment, Names
from xlalint.facts.state.frame import Frame
from xlalint.facts.state.memo import Budget, Memo, Summary
from xlalint.program import ir
from xlalint.program.link import GlobalName


class Globals(Attributes):
    """The engine's queries about globals; how a file's statements are evaluated is the engine's own."""

    _answers: Memo
    _definitions: dict[tuple[str, bool], Names]

    def definitions_seen_by(self, function: ir.FunctionIR) -> Names:
        """What the top-level names of its file are known to mean, variables left out: filled as they are met."""
        return self._definitions.setdefault((function.module, function.name == "<module>"), {})

    def global_value(self, frame: Frame, symbol: GlobalName) -> Value:
        """A top-level variable: its one expression where there is one, else what the module leaves there."""
        module, name = symbol.module, symbol.name
        expressions = module.globals.get(name, ())
        depth = frame.depth
        if depth.attributes == ONLY_CONSTANTS and len(expressions) == 1 and name not in module.reassigned:
            return Frame(self, module.body, Environment(), None, Budget(0, ONLY_CONSTANTS - 1)).evaluate(expressions[0])
        if depth.attributes <= 0:
            depth.cut_attributes()
            return UNKNOWN
        if len(expressions) == 1 and name not in module.reassigned and not module.is_script:
            answer = self.global_expression(module, expressions[0], depth.attributes - 1)
            value = answer.value
        else:
            answer = self.root(module.body, CALL_DEPTH_FOR_ATTRIBUTES, depth.attributes - 1)
            value = answer.final.get(name, UNKNOWN)
        depth.used(answer, 0, answer.attributes + 1)
        if not module.is_script and type(value) is Tensor:
            return value.but(device=HOST)
        return value

    def global_expression(self, module: ir.ModuleIR, node: ir.Expr, attributes: int) -> Summary:
        key = (node, "global")
        answer = self._answers.get(key, CALL_DEPTH_FOR_ATTRIBUTES, attributes)
        if answer is None:
            frame = Frame(self, module.body, Environment(), None, Budget(CALL_DEPTH_FOR_ATTRIBUTES, attributes))
            frame.quiet = 1
            value = frame.evaluate(node)
            depth = frame.depth
            answer = Summary(
                value,
                {},
                {},
                False,
                depth.needed_calls,
                depth.needed_attributes,
                depth.whole_calls,
                depth.whole_attributes,
                frame.cost,
            )
            self._answers.put(key, CALL_DEPTH_FOR_ATTRIBUTES, attributes, answer)
        return answer

    def module_attribute(self, frame: Frame, path: str, dotted: str, name: str) -> Value:
        symbol = self.program.resolve(path, name)
        if symbol is None:
            symbol = self.program.dotted(f"{dotted}.{name}", path)
        return symbol_value(frame, symbol)

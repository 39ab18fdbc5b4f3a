"""Operations on abstract values: members, elements, arithmetic, shapes and devices."""

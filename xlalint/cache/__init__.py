"""What is kept between runs: a folder of sealed entries. Nothing that is found there, or can't be, changes a result."""

"""The other process of ``checking``: reads sources from standard input, prints those that do not parse. Needs nothing but Python."""

import ast
import json
import sys
import warnings


def main() -> None:
    """``LENGTH LENGTH\\nPATHSOURCE…`` on standard input; ``[[path, line, why], …]`` on standard output."""
    warnings.simplefilter("ignore")
    found: list[tuple[str, int, str]] = []
    stream = sys.stdin.buffer
    while header := stream.readline():
        name_length, length = map(int, header.split())
        name = stream.read(name_length).decode("utf-8", "surrogateescape")
        source = stream.read(length)
        try:
            compile(source, name, "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
        except SyntaxError as error:
            found.append((name, error.lineno or 1, error.msg))
        except (ValueError, RecursionError, MemoryError) as error:
            found.append((name, 1, f"{type(error).__name__}: {error}"))
    print(json.dumps(found))


if __name__ == "__main__":
    main()

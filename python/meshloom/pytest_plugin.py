# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A plug-in of pytest: the fixture `contract` keeps what a program sends in a JSON file."""

import json
import pathlib
from typing import Any, Callable

import pytest

from ._analysis import CollectivesError, collectives


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-contracts",
        action="store_true",
        help="write what programs send to the files of the fixture `contract`",
    )


@pytest.fixture
def contract(request: pytest.FixtureRequest) -> Callable[..., None]:
    """Compares what a program sends with a file beside the test.

    `contract("step.json", jitted, *args)` fails with CollectivesError where the program
    sends something else than the file says; --update-contracts writes the file.
    """

    def check(name: str, program: Any, *args: Any, **kwargs: Any) -> None:
        path = pathlib.Path(request.path).parent / name
        sent = [str(entry) for entry in collectives(program, *args, **kwargs)]
        if request.config.getoption("--update-contracts"):
            path.write_text(json.dumps(sent, indent=2) + "\n")
            return
        if not path.is_file():
            raise FileNotFoundError(f"there is no {path}; --update-contracts writes it")
        allowed = json.loads(path.read_text())
        if sent != allowed:
            lines = [f"- {line}" for line in allowed if line not in sent]
            lines += [f"+ {line}" for line in sent if line not in allowed]
            raise CollectivesError(f"{path.name}:\n" + "\n".join(lines))

    return check

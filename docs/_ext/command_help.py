"""A directive that shows what a command of `sgc` says about itself, so that the page cannot go stale.

``.. command-help:: fit`` runs ``sgc fit --help`` while the documentation is built.
"""

import os
import subprocess
import sys
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import Directive
from sphinx.application import Sphinx

# A fixed width and no colours: the page must not depend on the terminal that built it.
PLAIN_TERMINAL = {"COLUMNS": "96", "TERMINAL_WIDTH": "96", "NO_COLOR": "1", "TERM": "dumb"}


class CommandHelp(Directive):
    """The help text of a command, or of a command of a command, as a literal block."""

    required_arguments = 0
    optional_arguments = 2

    def run(self) -> list[nodes.Node]:
        """Run the command and keep its output, or fail the build with its error."""
        sgc = Path(sys.executable).with_name("sgc")
        command = [str(sgc), *self.arguments, "--help"]
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, env={**os.environ, **PLAIN_TERMINAL}
        )
        if done.returncode != 0:
            lines = (done.stderr or done.stdout).strip().splitlines() or ["no output"]
            raise self.error(f"`sgc {' '.join(command[1:])}` failed: {lines[-1]}")
        text = "\n".join(line.rstrip() for line in done.stdout.strip("\n").splitlines())
        return [nodes.literal_block(text, text, language="none")]


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("command-help", CommandHelp)
    return {"parallel_read_safe": True}

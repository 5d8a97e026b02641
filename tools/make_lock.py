"""The versions of everything that development needs, with hashes: `make lock` writes `requirements-dev.lock`.

    pip install --require-hashes -r requirements-dev.lock && pip install --no-deps -e .

pip itself finds the versions (`--dry-run --report`), so nothing else is needed. The lock holds for the Python and the
kind of machine that made it, which its first line names.
"""

from __future__ import annotations

import json
import platform
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def main() -> int:
    command = [sys.executable, "-m", "pip", "install", "--dry-run", "--ignore-installed", "--quiet"]
    command += ["--disable-pip-version-check", "--report", "-", f"{ROOT}[dev]"]
    report = json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout)
    lines = [f"# Python {platform.python_version()}, {platform.system()} {platform.machine()}; made by 'make lock'"]
    for item in sorted(report["install"], key=lambda item: item["metadata"]["name"].lower()):
        name, version = item["metadata"]["name"], item["metadata"]["version"]
        hashes = item["download_info"].get("archive_info", {}).get("hashes", {})
        if name.lower() != "shoal" and "sha256" in hashes:
            lines += [f"{name}=={version} \\", f"    --hash=sha256:{hashes['sha256']}"]
    (ROOT / "requirements-dev.lock").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Runs osc-placement's commands against a server, in one process: `osc_commands.py URL`, in the `real` environment.

Prints a JSON list of [command, exit status, output].
"""

import contextlib
import io
import json
import sys

A, B = "10000000-0000-4000-8000-00000000000a", "10000000-0000-4000-8000-00000000000b"
C, D = "20000000-0000-4000-8000-00000000000c", "20000000-0000-4000-8000-00000000000d"
AGGREGATE = "30000000-0000-4000-8000-000000000000"
ALLOCATION = f"resource provider allocation set {C} --project-id p --user-id u --consumer-type INSTANCE"

COMMANDS = f"""
resource class create CUSTOM_OSC
resource class set CUSTOM_OSC2
resource class show CUSTOM_OSC
resource class delete CUSTOM_OSC2
resource class show CUSTOM_OSC2
resource class list
trait create CUSTOM_OSC_TRAIT
trait show CUSTOM_OSC_TRAIT
trait show CUSTOM_NOPE
trait list --name in:CUSTOM_OSC_TRAIT,HW_CPU_X86_AVX
resource provider create osc-a --uuid {A}
resource provider create osc-a
resource provider create osc-b --uuid {B} --parent-provider {A}
resource provider set {B} --name osc-b2
resource provider show {B}
resource provider show 10000000-0000-4000-8000-0000000000ff
resource provider list --in-tree {A}
resource provider inventory set {A} --resource VCPU=8 --resource VCPU:reserved=1 --resource DISK_GB=100
resource provider inventory set {A} --resource NOPE=8
resource provider inventory class set {A} VCPU --total 16 --allocation_ratio 2.0
resource provider inventory list {A}
resource provider inventory show {A} VCPU
resource provider inventory set {B} --resource CUSTOM_OSC=4
resource provider trait set {A} --trait CUSTOM_OSC_TRAIT --trait HW_CPU_X86_AVX
resource provider trait list {A}
resource provider list --required CUSTOM_OSC_TRAIT
resource provider aggregate set {A} --aggregate {AGGREGATE} --generation 4
resource provider aggregate set {A} --aggregate {AGGREGATE} --generation 3
resource provider aggregate list {A}
resource provider list --member-of {AGGREGATE}
allocation candidate list --resource VCPU=1 --resource DISK_GB=1 --member-of {AGGREGATE}
allocation candidate list --group 1 --resource VCPU=1 --group 2 --resource CUSTOM_OSC=1 --group-policy isolate
allocation candidate list --resource VCPU=1 --required NOPE
{ALLOCATION} --allocation rp={A},VCPU=2 --allocation rp={B},CUSTOM_OSC=1
{ALLOCATION} --allocation rp={A},VCPU=999
resource provider allocation show {C}
resource provider allocation unset {C} --resource-class CUSTOM_OSC
resource provider show {A} --allocations
resource provider usage show {A}
resource usage show p
resource provider inventory delete {A} --resource-class VCPU
resource provider delete {A}
resource provider allocation delete {C}
resource provider allocation delete {D}
resource provider trait delete {A}
resource provider inventory delete {A}
trait delete CUSTOM_OSC_TRAIT
resource provider delete {B}
resource provider delete {A}
resource class delete CUSTOM_OSC
""".strip().splitlines()

LISTS = ("list", "show", "create", "set", "unset")


def run(url: str, command: str) -> tuple[str, int, str]:
    """One command in this process, as its exit status and what it prints."""
    from openstackclient import shell

    login = ["--os-auth-type", "admin_token", "--os-token", "admin", "--os-endpoint", url]
    argv = [*login, "--os-placement-api-version", "1.39", *command.split()]
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        try:
            status = shell.OpenStackShell().run([*argv, "-f", "json"])
        except SystemExit as stop:
            status = int(stop.code or 0)
        if "unrecognized arguments: -f json" in out.getvalue():
            out.truncate(0)
            out.seek(0)
            status = shell.OpenStackShell().run(argv)
    return command, status, out.getvalue()


if __name__ == "__main__":
    print(json.dumps([run(sys.argv[1], command) for command in COMMANDS]))

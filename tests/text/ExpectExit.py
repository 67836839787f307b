"""usage: ExpectExit.py N COMMAND… — passes if COMMAND exits with N."""
import subprocess
import sys

expected = int(sys.argv[1])
found = subprocess.call(sys.argv[2:])
if found != expected:
    print(f"exit {found}, expected {expected}", file=sys.stderr)
sys.exit(found != expected)

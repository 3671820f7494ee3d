"""Judges what `run_cases.py` stored, and what `iolens advise` says of the labelled logs, against the labels.

    .venv/bin/python tests/foreign/judge_results.py --results results/foreign --logs LOGS --output FILE

`LOGS` is a folder with the public logs, which are found by their SHA-256. README.md says what counts as right.
"""

from __future__ import annotations

import argparse
import datetime
import hashlib
import json
import os
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import yaml

HERE = Path(__file__).resolve().parent
ROUNDING = 0.005
"""A twin's gain may exceed a bound by this much, which printing cuts off."""

Entry = dict[str, Any]
CAUSES: dict[str, dict[str, list[str]]] = yaml.safe_load((HERE / "causes.yaml").read_text())


def worth(said: Entry) -> list[Entry]:
    """Returns the findings that are worth a change."""
    return [one for one in said["findings"] if one["severity"] in ("high", "medium")]


def of_verdict(said: Entry) -> set[str]:
    """Returns the labels that a verdict without a finding stands for."""
    verdict = said["verdict"]
    for beginning, tags in CAUSES["sentences"].items():
        if verdict["sentence"].startswith(beginning):
            return set(tags)
    return set(CAUSES["verdicts"].get(verdict["kind"], []))


def first_cause(said: Entry) -> tuple[str, set[str]]:
    """Returns the cause that a report names first, in a word, and its labels. A finding comes first only if the verdict
    does not name a part of the run outside I/O.
    """
    found, verdict = worth(said), said["verdict"]
    labels = of_verdict(said)
    named = verdict["kind"] in ("compute", "mpi", "asleep", "cores", "system calls", "threads", "not known")
    if found and not named:
        own = labels if verdict["sentence"].startswith(tuple(CAUSES["sentences"])) else set()
        return found[0]["id"], own or set(CAUSES["rules"].get(found[0]["id"], []))
    return verdict["kind"], labels


def longest(logs: list[Entry]) -> Entry | None:
    """Returns the log of the process that ran longest, which counts as the program's."""
    return max(logs, key=lambda said: said["run_time"] or 0, default=None)


def is_named(logs: list[Entry], wanted: set[str]) -> bool:
    """Returns whether a finding of any log names the cause."""
    return any(wanted & set(CAUSES["rules"].get(one["id"], [])) for said in logs for one in worth(said))


def judged_fault(case: Entry, record: Entry) -> tuple[str, str]:
    """Returns the judgement of a program with a fault, and the cause that was named first."""
    wanted, logs = {case["tag"], *case.get("also", [])}, record["profiled"]["fault"].get("advise", [])
    said = longest(logs)
    if said is None:
        told = "statically linked" in " ".join(record["profiled"]["fault"].get("messages", []))
        return ("right" if told and case["tag"] == "not-visible" else "wrong"), "no log"
    cause, labels = first_cause(said)
    others = {first_cause(one)[0] for one in logs if one is not said and worth(one)}
    if labels & wanted or any(wanted & set(CAUSES["rules"].get(one, [])) for one in others):
        return "right", cause
    if said["verdict"]["sentence"].startswith("Too short") or said["run_time"] < ROUNDING * 100:
        return "too short", cause
    if is_named(logs, wanted):
        return "partly", cause
    return ("cores" if said["verdict"]["kind"] == "cores" else "wrong"), cause


def judged_silence(record: Entry, variant: str) -> tuple[str, str]:
    """Returns the judgement of a program without a fault: nothing may be proposed."""
    found = [one["id"] for said in record["profiled"][variant].get("advise", []) for one in worth(said)]
    return ("wrong", f"proposes {', '.join(sorted(set(found)))}") if found else ("right", "proposes nothing")


def bounds(case: Entry, record: Entry) -> list[Entry]:
    """Returns the printed bounds of the planted cause that are below the gain of the twin, or above it."""
    wanted = {case["tag"], *case.get("also", [])}
    return [
        {"rule": one["id"], "bound": round(one["bound"], 3), "held": one["bound"] + ROUNDING >= record["gain"]}
        for said in record["profiled"]["fault"].get("advise", [])
        for one in worth(said)
        if one.get("bound") is not None and wanted & set(CAUSES["rules"].get(one["id"], []))
    ]


def brief(logs: list[Entry]) -> Entry:
    """Returns verdict and findings of a run, without texts to paste."""
    said = longest(logs)
    if said is None:
        return {}
    found = [[one["id"], one["severity"], one["gain_words"]] for one in said["findings"] if one["severity"] != "note"]
    verdict = said["verdict"]
    return {"says": verdict["sentence"], "confidence": verdict.get("confidence", ""), "findings": found}


def judged_programs(results: Path) -> list[Entry]:
    """Returns a row for each program that has a result."""
    rows = []
    for case in yaml.safe_load((HERE / "cases.yaml").read_text())["cases"]:
        path = results / f"{case['name']}.json"
        if not path.exists():
            continue
        record = json.loads(path.read_text())
        row = {"name": case["name"], "tag": case["tag"], "gain": record.get("gain")}
        for variant, seen in record["profiled"].items():
            judge = judged_fault(case, record) if variant == "fault" else judged_silence(record, variant)
            row[variant] = {"judged": judge[0], "first": judge[1]} | brief(seen.get("advise", []))
        if "fault" in record["profiled"]:
            row["bounds"] = bounds(case, record)
        rows.append(row)
    return rows


def judged_log(label: Entry, path: Path, iolens: str) -> Entry:
    """Returns the row of a labelled log."""
    asked = subprocess.run([iolens, "advise", "--json", str(path)], capture_output=True, text=True, check=False)
    row = {key: label[key] for key in ("repository", "path", "sha256", "tag")}
    if not asked.stdout.strip():
        return row | {"judged": "right" if label["tag"] == "not-a-log" else "wrong", "first": "refused"}
    said = json.loads(asked.stdout.splitlines()[0])
    cause, labels = first_cause(said)
    wanted = {label["tag"], *label.get("also", [])}
    judge = "right" if labels & wanted else "partly" if is_named([said], wanted) else "wrong"
    return row | {"judged": judge, "first": cause} | brief([said])


def judged_logs(folder: Path | None, iolens: str) -> list[Entry]:
    """Returns the rows of the labelled logs that the folder has."""
    if folder is None:
        return []
    known = {hashlib.sha256(path.read_bytes()).hexdigest(): path for path in folder.rglob("*") if path.is_file()}
    labels = yaml.safe_load((HERE / "logs.yaml").read_text())["logs"]
    return [judged_log(one, known[one["sha256"]], iolens) for one in labels if one["sha256"] in known]


def summary(programs: list[Entry], logs: list[Entry]) -> Entry:
    """Returns how often each judgement was made."""
    count = {
        name: dict(Counter(row[variant]["judged"] for row in programs if variant in row))
        for name, variant in {"faults": "fault", "twins": "twin", "healthy": "run"}.items()
    }
    printed = [one["held"] for row in programs for one in row.get("bounds", [])]
    sure = [row["fault"]["judged"] for row in programs if row.get("fault", {}).get("confidence") == "high"]
    return count | {
        "logs": dict(Counter(row["judged"] for row in logs)),
        "bounds": {"printed": len(printed), "held": sum(printed)},
        "high_confidence": dict(Counter(sure)),
    }


def main() -> None:
    """Writes the judgements, and prints the counts and every case that is not right."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=Path, required=True, help="folder that run_cases.py filled")
    parser.add_argument("--logs", type=Path, help="folder with the public logs")
    parser.add_argument("--output", type=Path, help="file for the judgements")
    parser.add_argument("--machine", default="", help="what the machine did meanwhile, to be kept with the counts")
    given = parser.parse_args()
    programs = judged_programs(given.results)
    logs = judged_logs(given.logs, os.environ.get("IOLENS", "iolens"))
    counts = summary(programs, logs)
    for row in programs:
        for variant in ("fault", "twin", "run"):
            if row.get(variant, {}).get("judged", "right") != "right":
                seen = row[variant]
                print(f"{row['name']:24s} {variant:5s} {seen['judged']:9s} {row['tag']:24s} {seen['first']}")
        for one in row.get("bounds", []):
            if not one["held"]:
                print(f"{row['name']:24s} bound {one['bound']} of {one['rule']} < {row['gain']}")
    for row in logs:
        if row["judged"] != "right":
            print(f"{row['sha256'][:8]} {row['judged']:9s} {row['tag']:24s} {row['first']}")
    print(json.dumps(counts, indent=1))
    if given.output:
        when = {"date": datetime.date.today().isoformat(), "machine": given.machine}
        whole = {"summary": counts | when, "programs": programs, "logs": logs}
        given.output.write_text(json.dumps(whole, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()

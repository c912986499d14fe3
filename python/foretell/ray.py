"""Analyses large traces, and hunts for races, on a Ray cluster.

    python -m foretell.ray predict big.ftr -o report.json
    python -m foretell.ray hunt --runs 1000 -- ./my-tests

or from a program: foretell.ray.predict("big.ftr"). Ray schedules shards and batches of runs as tasks, repeats those
whose machine fails, and moves the shards. The report of a trace is the same, byte for byte, as that of one machine.
"""

import argparse
import json
import os
import pathlib
import sys
import tempfile

import ray

from . import ForetellError, report, run

# A task that fails because its machine does is repeated as often as it takes; an error of foretell is not.
RETRIES = -1
# So many tasks wait for each CPU: enough to keep it busy, few enough for the memory that shards wait in.
WAITING = 2


@ray.remote(max_retries=RETRIES)
def _predict_shard(number, count, plan, name, content, options):
    """The report of one shard, which comes along with the task."""
    with tempfile.TemporaryDirectory(prefix="foretell-") as folder:
        shards, part = pathlib.Path(folder, "plan"), pathlib.Path(folder, "part.json")
        shards.mkdir()
        (shards / "plan.json").write_bytes(plan)
        (shards / name).write_bytes(content)
        share = f"{number + 1}/{count}"
        run(["predict", "--plan", shards, "--shard", share, "--jobs", "1", "-o", part, "--no-progress", *options])
        return part.read_text(encoding="utf-8")


@ray.remote(max_retries=RETRIES)
def _hunt_batch(seed, runs, known, command, options, folder):
    """The report of some runs. Races that are known are only counted."""
    with tempfile.TemporaryDirectory(prefix="foretell-") as place:
        words = ["hunt", "--runs", str(runs), "--patience", "none", "--seed", str(seed), "--jobs", "1"]
        words += ["--format", "json", "--no-progress", *options]
        if known:
            baseline = pathlib.Path(place, "known.json")
            baseline.write_text(known, encoding="utf-8")
            words += ["--baseline", baseline]
        return run([*words, "--", *command], cwd=folder)


def _in_flight(jobs):
    """Starts tasks as others end; gives each result with its number, in the order in which they end."""
    jobs, waiting = iter(enumerate(jobs)), {}
    most = max(1, int(ray.cluster_resources().get("CPU", 1))) * WAITING
    while True:
        while len(waiting) < most and (job := next(jobs, None)) is not None:
            number, start = job
            waiting[start()] = number
        if not waiting:
            return
        done, _ = ray.wait(list(waiting), num_returns=1)
        for reference in done:
            number = waiting.pop(reference)
            try:
                yield number, ray.get(reference)
            except ray.exceptions.RayTaskError as error:
                cause = error.cause
                raise (cause if isinstance(cause, ForetellError) else error) from None


def predict(trace=None, *, plan=None, options=(), shard_events=None, output=None, progress=None):
    """The report of a trace (a dict), whose shards are analysed by the cluster.

    trace: the trace, as the driver can read it; or plan: a folder that `foretell plan` has made.
    options: for `foretell predict`, such as ("--technique", "mcm").
    output: where to write the report as well; its ending sets the form.
    progress: called with a line of text now and then.
    """
    if (trace is None) == (plan is None):
        raise ValueError("either a trace or a plan")
    tell = progress or (lambda line: None)
    with tempfile.TemporaryDirectory(prefix="foretell-") as folder:
        folder = pathlib.Path(folder)
        if plan is None:
            plan = folder / "plan"
            length = [] if shard_events is None else ["--shard-events", str(shard_events)]
            run(["plan", trace, "-o", plan, "--no-progress", *length])
        parts = _parts(pathlib.Path(plan), folder, tuple(options), tell)
        merged = folder / "report.json"
        run(["merge", *parts, "-o", merged, *([] if output is None else ["-o", output])])
        return report(merged.read_text(encoding="utf-8"))


def _parts(plan, folder, options, tell):
    """Has all shards analysed; gives the files with their reports."""
    content = (plan / "plan.json").read_bytes()
    shards = report(content)["shards"]
    shared = ray.put(content)

    def job(number, name):
        def start():
            # It is read when its turn comes, and stays in the cluster until its task has ended.
            data = ray.put((plan / name).read_bytes())
            return _predict_shard.remote(number, len(shards), shared, name, data, options)

        return start

    files = [folder / f"part-{number}.json" for number in range(len(shards))]
    races, ended = 0, 0
    for number, text in _in_flight([job(number, shard["file"]) for number, shard in enumerate(shards)]):
        files[number].write_text(text, encoding="utf-8")
        races += sum(len(result["races"]) for result in report(text)["results"])
        ended += 1
        tell(f"{ended} of {len(shards)} shards, {races} races in them")
    return files


def hunt(command, *, runs=100, batch=10, seed=1, options=(), folder=None, progress=None):
    """Runs a program many times on the cluster; gives the races (dicts) that were found, each once.

    command: a list of words, of a program that every machine can start.
    batch: how many runs one task makes. A later batch knows the races of those that have ended before it starts.
    options: for `foretell hunt`, such as ("--strategy", "pct").
    folder: where the program runs; by default, the folder of the driver.
    """
    tell = progress or (lambda line: None)
    folder = folder or os.getcwd()
    found, first = {}, None

    def job(number):
        def start():
            known = None if first is None else _known(first, found)
            many = min(batch, runs - number * batch)
            at = seed + number * batch
            return _hunt_batch.remote(at, many, known, list(command), tuple(options), folder)

        return start

    ended = 0
    for number, text in _in_flight([job(number) for number in range(-(-runs // batch))]):
        told = report(text)
        first = first or told
        for race in told.get("races", []):
            found.setdefault(race.get("fingerprint") or _places(race), race)
        ended += min(batch, runs - number * batch)
        tell(f"{ended} of {runs} runs, {len(found)} races")
    return list(found.values())


def _places(race):
    return tuple(sorted(race[side]["location"] for side in ("first", "second")))


def _known(told, found):
    """A report of all races that were found so far."""
    return json.dumps({**told, "races": list(found.values()), "undecided": []})


def _parser():
    parser = argparse.ArgumentParser(prog="python -m foretell.ray", description=__doc__.splitlines()[0])
    parser.add_argument("--address", help="the cluster [default: RAY_ADDRESS, or this machine alone]")
    commands = parser.add_subparsers(dest="what", required=True)
    one = commands.add_parser("predict", help="find races in a trace, shard by shard")
    one.add_argument("trace", nargs="?", help="the trace")
    one.add_argument("--plan", help="a folder that `foretell plan` has made, instead of a trace")
    one.add_argument("--shard-events", type=int, help="how many events a shard has")
    one.add_argument("-o", "--output", help="where the report goes; its ending sets the form")
    many = commands.add_parser("hunt", help="run a program many times")
    many.add_argument("--runs", type=int, default=100, help="how many runs [default: 100]")
    many.add_argument("--batch", type=int, default=10, help="how many runs one task makes [default: 10]")
    many.add_argument("--seed", type=int, default=1, help="the seed of the first run [default: 1]")
    for command in (one, many):
        command.add_argument("--options", default="", help="options for foretell, as one word")
    many.add_argument("command", nargs=argparse.REMAINDER, help="after --: the program and its arguments")
    return parser


def main(words=None):
    """The command line; gives the exit code, which is that of foretell."""
    parser = _parser()
    arguments = parser.parse_args(words)
    ray.init(address=arguments.address, log_to_driver=False, logging_level="ERROR")
    options = arguments.options.split()

    def tell(line):
        print(line, file=sys.stderr)

    if arguments.what == "predict":
        if (arguments.trace is None) == (arguments.plan is None):
            parser.error("give a trace or --plan")
        shards = {"plan": arguments.plan, "shard_events": arguments.shard_events, "output": arguments.output}
        told = predict(arguments.trace, options=options, progress=tell, **shards)
        races, is_open = told["races"], not told["complete"]
    else:
        command = arguments.command[1:] if arguments.command[:1] == ["--"] else arguments.command
        if not command:
            parser.error("give a program after --")
        runs = {"runs": arguments.runs, "batch": arguments.batch, "seed": arguments.seed}
        races, is_open = hunt(command, options=options, progress=tell, **runs), False
    for race in races:
        first, second = race["first"], race["second"]
        print(f"race: {first['target']}: {first['location']} and {second['location']}")
    return 1 if races else 3 if is_open else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except ForetellError as error:
        print(error, file=sys.stderr)
        sys.exit(2)

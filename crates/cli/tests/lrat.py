"""A second opinion on proofs in the format LRAT, without its extension for RAT: lrat.py FORMULA.cnf PROOF.lrat

Ends with 0 if the proof shows that the formula has no solution. Written from the description of the format alone.
"""

import sys


class Refused(Exception):
    pass


def formula(path):
    """The clauses of a file in the format DIMACS, numbered from 1."""
    clauses, count, clause = {}, None, []
    for line in open(path):
        words = line.split()
        if not words or words[0] == "c":
            continue
        if words[0] == "p":
            if words[1] != "cnf":
                raise Refused("this is no formula")
            count = int(words[3])
            continue
        for literal in map(int, words):
            if literal == 0:
                clauses[len(clauses) + 1] = frozenset(clause)
                clause = []
            else:
                clause.append(literal)
    if clause or len(clauses) != count:
        raise Refused("the formula is cut off")
    return clauses


def follows(clause, hints, clauses):
    """Whether the clause follows by unit propagation along the hints."""
    false = set(clause)
    if any(-literal in false for literal in false):
        return True
    for hint in hints:
        if hint not in clauses:
            raise Refused(f"there is no clause {hint}")
        left = clauses[hint] - false
        if not left:
            return True
        if len(left) > 1:
            raise Refused(f"clause {hint} leaves {len(left)} literals")
        (unit,) = left
        false.add(-unit)
    return False


def check(clauses, path):
    """Whether the proof comes to the empty clause."""
    if frozenset() in clauses.values():
        return True
    for line in open(path):
        words = line.split()
        if not words or words[0] == "c":
            continue
        if words[-1] != "0":
            raise Refused("a line is cut off")
        number = int(words[0])
        if words[1] == "d":
            for dropped in map(int, words[2:-1]):
                if clauses.pop(dropped, None) is None:
                    raise Refused(f"there is no clause {dropped}")
            continue
        rest = list(map(int, words[1:-1]))
        if 0 not in rest:
            raise Refused(f"clause {number} has no end")
        end = rest.index(0)
        clause, hints = rest[:end], rest[end + 1 :]
        if number in clauses:
            raise Refused(f"there are two clauses {number}")
        if not follows(clause, hints, clauses):
            raise Refused(f"clause {number} does not follow")
        if not clause:
            return True
        clauses[number] = frozenset(clause)
    return False


def main():
    try:
        if not check(formula(sys.argv[1]), sys.argv[2]):
            raise Refused("the proof does not come to the empty clause")
    except Refused as refused:
        print("refused:", refused)
        sys.exit(1)
    print("accepted")


main()

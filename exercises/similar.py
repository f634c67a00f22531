"""Which answers are much alike: a reason to look at both, and no more than that.

Names, spaces and comments do not count, nor does what the skeleton has already. What is left of an
answer is a set of short runs of tokens; two answers are compared by how many runs they share.
"""

import re

RUN = 9  # tokens
FEWEST = 40  # runs that are not the skeleton's: shorter answers cannot help being alike
ALIKE = 0.8
WORDS = set(
    "if else for while do return const int float float4 unsigned size_t bool auto template struct "
    "__global__ __device__ __shared__ __syncthreads threadIdx blockIdx blockDim gridDim".split()
)
# What is begun is always ended, by the end of the file or of a string's line: were it tried in
# vain, the rest of the file would be read again for every character.
TOKEN = re.compile(
    r"//[^\n]*|/\*.*?(?:\*/|\Z)"
    r'|"(?:\\.|[^"\\\n])*"?|[A-Za-z_]\w*|[\d.]\w*|[-+*/%=<>!&|^]=?|\S',
    re.S,
)
MOST_READ = 1 << 18  # bytes of an answer


def runs_of(source):
    tokens = []
    for token in TOKEN.findall(source):
        if token.startswith(("//", "/*")):
            continue
        is_name = re.match(r"[A-Za-z_]", token) and token not in WORDS
        tokens.append("name" if is_name else token)
    return {tuple(tokens[i : i + RUN]) for i in range(len(tokens) - RUN + 1)}


def text_of(path):
    """The beginning of a plain file, or None if it cannot be read."""
    try:
        if not path.is_file() or path.is_symlink():
            return None
        with open(path, "rb") as file:
            return file.read(MOST_READ).decode(errors="replace")
    except OSError:
        return None


def pairs(answers, skeleton):
    """(share, name, name, runs in common) for every two that are alike, the most alike first.
    `answers` are sources by name."""
    known = runs_of(skeleton)
    own = {name: runs_of(source) - known for name, source in answers.items()}
    names = sorted(name for name, runs in own.items() if len(runs) >= FEWEST)
    found = []
    for i, first in enumerate(names):
        for second in names[i + 1 :]:
            common = len(own[first] & own[second])
            share = common / min(len(own[first]), len(own[second]))
            if share >= ALIKE:
                found.append((share, first, second, common))
    return sorted(found, reverse=True)


def write(path, exercises, files, write_csv):
    """similar.csv, of {student folder: ({number: file}, ...)}. Returns how many pairs there are.
    Of a prediction there is one right answer, which all who are right have in common."""
    rows = [["exercise", "share", "one", "other", "runs of tokens in common"]]
    for exercise in (e for e in exercises if e.kind != "predict"):
        answers = {}
        for student, (chosen, _) in files.items():
            file = chosen.get(exercise.number)
            if file and (text := text_of(file)) is not None:
                answers[student.name] = text
        for share, first, second, common in pairs(answers, exercise.skeleton):
            rows.append([exercise.name, round(share, 2), first, second, common])
    write_csv(path, rows)
    return len(rows) - 1

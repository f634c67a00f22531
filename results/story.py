"""Where a reader is in the book: the small pictures at the top of every chapter's page."""


def here(number, name):
    return ""

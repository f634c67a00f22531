"""Processes that do jobs. One that dies costs its job, and another takes its place."""

import multiprocessing
import multiprocessing.connection
import signal

CONTEXT = multiprocessing.get_context("fork")


class Worker:
    def __init__(self, work):
        self.pipe, theirs = CONTEXT.Pipe()
        self.process = CONTEXT.Process(
            target=self.serve, args=(work, theirs), daemon=True
        )
        self.process.start()
        theirs.close()
        self.job = None

    def serve(self, work, pipe):
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Control-C is for who started us
        self.pipe.close()
        while True:
            try:
                pipe.send(work(pipe.recv()))
            except (EOFError, BrokenPipeError):
                return

    def take(self, job):
        self.job = job
        self.pipe.send(job)

    def end(self):
        self.pipe.close()
        self.process.terminate()
        self.process.join()


def each(work, jobs, count):
    """Yields (job, work(job)) in the order in which they are done; (job, None) where the worker
    has died over it."""
    ahead = list(reversed(jobs))
    workers = [Worker(work) for _ in range(min(count, len(jobs)))]
    try:
        for worker in workers:
            worker.take(ahead.pop())
        while busy := [worker for worker in workers if worker.job is not None]:
            ready = multiprocessing.connection.wait([worker.pipe for worker in busy])
            for worker in busy:
                if worker.pipe not in ready:
                    continue
                try:
                    result = worker.pipe.recv()
                except (EOFError, OSError):
                    result = None
                    worker.end()
                    workers[workers.index(worker)] = worker = replaced(worker, work)
                job, worker.job = worker.job, None
                yield job, result
                if ahead:
                    worker.take(ahead.pop())
    finally:
        for worker in workers:
            worker.end()


def replaced(dead, work):
    worker = Worker(work)
    worker.job = dead.job
    return worker

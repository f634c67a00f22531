"""A headless Chromium for tests, driven over its DevTools protocol; needs nothing but tornado,
which the notebooks bring along."""

import asyncio
import contextlib
import json
import re
import shutil
import subprocess

PROGRAM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))),
    None,
)


class Browser:
    """One page in one browser. `said` are the errors on its console since the last visit, `asked`
    the addresses that it asked for and that are no local files."""

    def __init__(self, folder):
        self.said, self.asked, self.loaded, self.count = [], [], False, 0
        self.loop = asyncio.new_event_loop()
        self.process = subprocess.Popen(
            [
                PROGRAM,
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--no-first-run",
                "--disable-background-networking",
                "--remote-debugging-port=0",
                f"--user-data-dir={folder}",
                "about:blank",
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        for line in self.process.stderr:
            found = re.search(r"DevTools listening on ws://([^/]+)/", line)
            if found:
                break
        else:
            raise RuntimeError("the browser did not start")
        self.wait(self.connect(found[1]))
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def wait(self, what):
        return self.loop.run_until_complete(asyncio.wait_for(what, 60))

    async def connect(self, host):
        from tornado.httpclient import AsyncHTTPClient
        from tornado.websocket import websocket_connect

        pages = json.loads((await AsyncHTTPClient().fetch(f"http://{host}/json")).body)
        page = next(page for page in pages if page["type"] == "page")
        self.socket = await websocket_connect(
            page["webSocketDebuggerUrl"], max_message_size=1 << 26
        )

    async def answer(self, number):
        """Reads on until the call of this number is answered; None: until the page has loaded."""
        while number is not None or not self.loaded:
            told = json.loads(await self.socket.read_message())
            if number is not None and told.get("id") == number:
                return told
            self.note(told.get("method"), told.get("params", {}))

    def note(self, event, told):
        if event == "Page.loadEventFired":
            self.loaded = True
        elif event == "Runtime.exceptionThrown":
            self.said.append(
                told["exceptionDetails"].get("exception", {}).get("description")
            )
        elif event == "Runtime.consoleAPICalled" and told["type"] == "error":
            self.said.append(str(told["args"]))
        elif event == "Log.entryAdded" and told["entry"]["level"] == "error":
            self.said.append(told["entry"]["text"] + " " + told["entry"].get("url", ""))
        elif event == "Network.requestWillBeSent":
            address = told["request"]["url"]
            if not address.startswith(("file:", "data:", "about:", "blob:")):
                self.asked.append(address)

    def call(self, method, **words):
        self.count += 1
        request = json.dumps({"id": self.count, "method": method, "params": words})

        async def asked():
            await self.socket.write_message(request)
            return await self.answer(self.count)

        told = self.wait(asked())
        if "error" in told:
            raise RuntimeError(f"{method}: {told['error']['message']}")
        return told["result"]

    def visit(self, path, query=""):
        self.said, self.asked, self.loaded = [], [], False
        self.call("Page.navigate", url=path.as_uri() + query)
        self.wait(self.answer(None))

    @contextlib.contextmanager
    def before(self, code):
        """Runs code on every page that is visited meanwhile, before the page's own."""
        method = "ScriptToEvaluateOnNewDocument"
        told = self.call(f"Page.add{method}", source=code)
        try:
            yield
        finally:
            self.call(f"Page.remove{method}", identifier=told["identifier"])

    def look(self, width, scheme, motion="reduce"):
        """As which reader: the window's width, light or dark, with or without motion."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=900,
            deviceScaleFactor=1,
            mobile=width < 600,
        )
        features = [("prefers-color-scheme", scheme), ("prefers-reduced-motion", motion)]
        self.call(
            "Emulation.setEmulatedMedia",
            features=[{"name": name, "value": value} for name, value in features],
        )

    def run(self, code):
        """The value of an expression of JavaScript; a promise is waited for."""
        told = self.call(
            "Runtime.evaluate", expression=code, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in told:
            raise RuntimeError(told["exceptionDetails"]["exception"]["description"])
        return told["result"].get("value")

    def press(self, key):
        """A key, as a reader presses it: "/", "Enter", "ArrowDown"."""
        words = {"key": key, "code": "Slash" if key == "/" else key}
        words |= (
            {"text": "\r" if key == "Enter" else key} if key in ("/", "Enter") else {}
        )
        codes = {"Tab": 9, "Enter": 13, "Escape": 27}
        words |= {"windowsVirtualKeyCode": codes[key]} if key in codes else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", **words)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key)

    def click(self, where):
        """The mouse, in the middle of what a selector finds first."""
        x, y = (
            self.run(f"""(() => {{ const box = document.querySelector("{where}").getBoundingClientRect();
            return [box.left + box.width / 2, box.top + box.height / 2]; }})()""")
        )
        for what in ("mousePressed", "mouseReleased"):
            self.call(
                "Input.dispatchMouseEvent",
                type=what,
                x=x,
                y=y,
                button="left",
                clickCount=1,
            )

    def type(self, text):
        for letter in text:
            self.call("Input.dispatchKeyEvent", type="char", text=letter)

    def close(self):
        self.process.terminate()
        self.process.wait()
        self.process.stderr.close()
        self.loop.close()

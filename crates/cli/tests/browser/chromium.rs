//! A Chromium without a window, spoken to over a pair of pipes in its own protocol: no port, no network.

use std::io::{BufRead as _, BufReader, Write as _};
use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// How long anything may take before it counts as hung. Machines that run tests can be very busy.
const PATIENCE: Duration = Duration::from_secs(40);
/// What Chromium is called.
const NAMES: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];
/// One browser for all tests: starting it takes longer than most of them.
static BROWSER: Mutex<Option<Browser>> = Mutex::new(None);

/// A browser with one page.
pub(crate) struct Browser {
    /// Chromium itself. It ends when nobody is at the other end of its pipes any more.
    _process: Child,
    to: ChildStdin,
    from: Receiver<Value>,
    calls: u64,
    /// The page that is spoken to; the browser itself if there is none.
    session: Option<String>,
    /// What the page has done that no report may do.
    offences: Vec<String>,
    /// How many requests the page has made.
    requests: usize,
    /// Where Chromium says what is wrong with it.
    log: PathBuf,
}

/// The browser, for one test at a time.
pub(crate) struct Turn(MutexGuard<'static, Option<Browser>>);

impl Deref for Turn {
    type Target = Browser;

    fn deref(&self) -> &Browser {
        self.0.as_ref().expect("a browser that is started")
    }
}

impl DerefMut for Turn {
    fn deref_mut(&mut self) -> &mut Browser {
        self.0.as_mut().expect("a browser that is started")
    }
}

impl Browser {
    /// The browser with a new page.
    pub(crate) fn start() -> Turn {
        // A test that failed leaves a page behind, which nobody looks at any more.
        let mut turn = BROWSER.lock().unwrap_or_else(PoisonError::into_inner);
        turn.get_or_insert_with(Browser::launch).begin();
        Turn(turn)
    }

    fn launch() -> Browser {
        let (mut process, log) = launch();
        let to = process.stdin.take().expect("a pipe");
        let out = process.stdout.take().expect("a pipe");
        let (sender, from) = channel();
        std::thread::spawn(move || {
            for message in BufReader::new(out).split(0) {
                let message = message.ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
                let Some(message) = message else { break };
                if sender.send(message).is_err() {
                    break;
                }
            }
        });
        let (session, offences) = (None, Vec::new());
        Browser { _process: process, to, from, calls: 0, session, offences, requests: 0, log }
    }

    /// Goes on with a page that knows nothing of those before.
    fn begin(&mut self) {
        self.session = None;
        let context = self.call("Target.createBrowserContext", json!({}));
        let params = json!({"url": "about:blank", "browserContextId": context["browserContextId"]});
        let page = self.call("Target.createTarget", params);
        let params = json!({"targetId": page["targetId"], "flatten": true});
        let attached = self.call("Target.attachToTarget", params);
        self.session = attached["sessionId"].as_str().map(String::from);
        for domain in ["Page", "Runtime", "Log", "Network"] {
            self.call(&format!("{domain}.enable"), json!({}));
        }
        self.size(1600, 1000);
        self.prefer("light");
        self.offences.clear();
    }

    /// Calls a method of the protocol, and returns what it returns.
    pub(crate) fn call(&mut self, method: &str, params: Value) -> Value {
        self.calls += 1;
        let mut message = json!({"id": self.calls, "method": method, "params": params});
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        let sent = self.to.write_all(&bytes).and_then(|()| self.to.flush());
        sent.unwrap_or_else(|error| panic!("Chromium does not listen: {error}. {}", self.log()));
        loop {
            let answer = self.from.recv_timeout(PATIENCE);
            let answer = answer.unwrap_or_else(|error| panic!("{method}: {error}. {}", self.log()));
            if answer["id"] == json!(self.calls) {
                assert!(answer["error"].is_null(), "{method}: {}", answer["error"]);
                return answer["result"].clone();
            }
            self.note(&answer);
        }
    }

    /// Remembers what no page may do, and answers what would hang it.
    fn note(&mut self, event: &Value) {
        let params = &event["params"];
        let url = params["request"]["url"].as_str().unwrap_or_default();
        match event["method"].as_str().unwrap_or_default() {
            "Network.requestWillBeSent" => {
                self.requests += 1;
                if !url.starts_with("file://") {
                    self.offences.push(format!("it asks for {url}"));
                }
            }
            what @ ("Runtime.exceptionThrown"
            | "Runtime.consoleAPICalled"
            | "Log.entryAdded"
            | "Page.javascriptDialogOpening") => {
                self.offences.push(format!("{what}: {params}"));
            }
            _ => {}
        }
    }

    /// What Chromium has to say about itself.
    fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// What a script in the page comes to.
    pub(crate) fn eval(&mut self, script: &str) -> Value {
        let params = json!({"expression": script, "returnByValue": true, "awaitPromise": true});
        let answer = self.call("Runtime.evaluate", params);
        assert!(answer["exceptionDetails"].is_null(), "{script}: {}", answer["exceptionDetails"]);
        answer["result"]["value"].clone()
    }

    pub(crate) fn is(&mut self, script: &str) -> bool {
        self.eval(script) == json!(true)
    }

    pub(crate) fn text(&mut self, script: &str) -> String {
        self.eval(script).as_str().unwrap_or_default().to_string()
    }

    /// Waits until a script comes to be true.
    pub(crate) fn wait_for(&mut self, script: &str) {
        let start = Instant::now();
        while !self.is(script) {
            assert!(start.elapsed() < PATIENCE, "this never came to be: {script}");
            std::thread::sleep(Duration::from_millis(15));
        }
    }

    /// Opens a page, and returns how long it took until it could be used: drawn, and listening.
    pub(crate) fn open(&mut self, path: &Path, anchor: &str) -> Duration {
        // Otherwise only the anchor would change.
        self.call("Page.navigate", json!({"url": "about:blank"}));
        self.requests = 0;
        let start = Instant::now();
        let url = format!("file://{}{anchor}", path.to_str().expect("a plain path"));
        self.call("Page.navigate", json!({"url": url}));
        self.wait_for("document.documentElement?.dataset.ready !== undefined");
        self.eval("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
        start.elapsed()
    }

    /// Goes to what an anchor of the page names.
    pub(crate) fn go_to(&mut self, anchor: &str) {
        self.eval(&format!("location.hash = '{anchor}'"));
        self.wait_for(&format!("document.querySelector('#detail [data-item={anchor}]') !== null"));
    }

    pub(crate) fn size(&mut self, width: u32, height: u32) {
        let params = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500});
        self.call("Emulation.setDeviceMetricsOverride", params);
    }

    pub(crate) fn prefer(&mut self, scheme: &str) {
        // Nothing moves by itself, so that clicks hit what they are meant for.
        let features = json!([
            {"name": "prefers-color-scheme", "value": scheme},
            {"name": "prefers-reduced-motion", "value": "reduce"}
        ]);
        self.call("Emulation.setEmulatedMedia", json!({"features": features}));
    }

    /// Presses keys, one after the other, by their names.
    pub(crate) fn press(&mut self, keys: &[&str]) {
        for key in keys {
            let code = match *key {
                "Enter" => 13,
                "Escape" => 27,
                "ArrowUp" => 38,
                "ArrowDown" => 40,
                "ArrowLeft" => 37,
                "ArrowRight" => 39,
                _ => 0,
            };
            let mut down = json!({"type": "keyDown", "key": key, "windowsVirtualKeyCode": code});
            if key.chars().count() == 1 {
                down["text"] = json!(key);
            }
            self.call("Input.dispatchKeyEvent", down);
            self.call(
                "Input.dispatchKeyEvent",
                json!({"type": "keyUp", "key": key, "windowsVirtualKeyCode": code}),
            );
        }
    }

    /// Moves the mouse to the middle of the first element that a selector finds, and clicks if wanted.
    pub(crate) fn point(&mut self, selector: &str, is_click: bool) {
        // What is there has to be what is meant: nothing may lie above it, and it may not be about to move.
        let find = format!(
            "(async () => {{
                const element = document.querySelector({selector:?});
                element.scrollIntoView({{ block: 'center', behavior: 'instant' }});
                await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
                const box = element.getBoundingClientRect();
                const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
                return element.contains(document.elementFromPoint(x, y)) ? [x, y] : null;
            }})()"
        );
        let start = Instant::now();
        let middle = loop {
            let middle = self.eval(&find);
            if !middle.is_null() {
                break middle;
            }
            assert!(start.elapsed() < PATIENCE, "{selector} is covered by something");
        };
        let mut event = json!({"type": "mouseMoved", "x": middle[0], "y": middle[1]});
        self.call("Input.dispatchMouseEvent", event.clone());
        if is_click {
            event["button"] = json!("left");
            event["clickCount"] = json!(1);
            for kind in ["mousePressed", "mouseReleased"] {
                event["type"] = json!(kind);
                self.call("Input.dispatchMouseEvent", event.clone());
            }
        }
    }

    /// Whether nothing sticks out to the side.
    pub(crate) fn fits(&mut self) -> bool {
        self.is("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    }

    /// What is to be seen, as a PNG in Base64.
    pub(crate) fn screenshot(&mut self) -> String {
        let shot = self.call("Page.captureScreenshot", json!({}));
        shot["data"].as_str().unwrap_or_default().to_string()
    }

    /// How many requests the page has made since it was opened, itself included.
    pub(crate) fn requests(&self) -> usize {
        self.requests
    }

    /// The page has done nothing that no report may do.
    pub(crate) fn assert_well_behaved(&mut self) {
        // Whatever is still on its way arrives before the answer.
        self.eval("0");
        assert!(self.offences.is_empty(), "{:#?}", self.offences);
    }
}

/// Starts Chromium: it speaks on its third and fourth channel, which we have as its input and output.
fn launch() -> (Child, PathBuf) {
    let Some(program) = NAMES.iter().find_map(|name| find(name)) else {
        panic!(
            "there is no Chromium to test reports in: `cargo xtask setup` installs it (on Debian: apt-get install chromium)"
        );
    };
    let profile = profile();
    let log = profile.join("log");
    let process = Command::new("sh")
        .args(["-c", "log=$1; shift; exec \"$@\" 3<&0 4>&1 </dev/null >\"$log\" 2>&1", "sh"])
        .args([&log, &program])
        .args([
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--no-first-run",
        ])
        .args(["--disable-extensions", "--disable-background-networking", "--remote-debugging-pipe"])
        .arg(format!("--user-data-dir={}", profile.display()))
        .arg("about:blank")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("a shell");
    (process, log)
}

/// Where a program is, if it is anywhere.
fn find(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|program| program.is_file())
}

/// A folder for what Chromium remembers. Those of test runs that are over go away.
fn profile() -> PathBuf {
    let folders = Path::new(env!("CARGO_TARGET_TMPDIR")).join("profiles");
    let old = std::fs::read_dir(&folders).into_iter().flatten().flatten();
    for old in old.filter(|old| !Path::new("/proc").join(old.file_name()).exists()) {
        // Somebody else may have been faster.
        drop(std::fs::remove_dir_all(old.path()));
    }
    let folder = folders.join(std::process::id().to_string());
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

//! Exim, which takes emails and delivers them, and Dovecot, which keeps them: as Debian has them,
//! with settings of their own.

use std::fs;
use std::net::TcpListener;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use channels::SecretString;
use channels::email::imap::{ImapSecurity, ImapSettings};
use lettre::address::Envelope;
use lettre::{AsyncSmtpTransport, AsyncTransport, Tokio1Executor};
use tempfile::TempDir;
use tokio::net::TcpStream;
use tokio::time::{interval, timeout};

const EXIM: &str = "exim4";
const DOVECOT: &str = "dovecot";
/// Whom Exim delivers as, and Dovecot reads as.
const USER: &str = "Debian-exim";

/// Both servers.
pub(crate) struct Servers {
    folder: TempDir,
    user: (u32, u32),
    imap: u16,
    imaps: u16,
    smtp: u16,
    dovecot: Option<Child>,
    exim: Option<Child>,
}

/// Where Exim leaves answers.
pub(crate) enum Leaves {
    InMailbox,
    /// With whoever speaks LMTP at this port.
    At(u16),
}

impl Servers {
    /// Both, started; `None`, said aloud, where they are not installed.
    pub(crate) async fn start(leaves: Leaves) -> Option<Self> {
        // Dovecot 2.4 has other settings.
        let there = says(EXIM, "-bV", "Exim") && says(DOVECOT, "--version", "2.3.");
        if !there || id("-u", None) != Some(0) {
            skipped("real mail servers need root, exim4-daemon-light and dovecot-imapd 2.3");
            return None;
        }
        let user = (id("-u", Some(USER)).unwrap(), id("-g", Some(USER)).unwrap());
        let folder = tempfile::tempdir().unwrap();
        let mut servers = Self {
            folder,
            user,
            imap: free_port(),
            imaps: free_port(),
            smtp: free_port(),
            dovecot: None,
            exim: None,
        };
        servers.settle(&leaves);
        servers.start_dovecot().await;
        servers.start_exim().await;
        Some(servers)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn settle(&self, leaves: &Leaves) {
        let (uid, gid) = self.user;
        let folder = self.folder.path().display().to_string();
        for name in ["", "run", "home", "spool", "log"] {
            let path = self.path(name);
            fs::create_dir_all(&path).unwrap();
            std::os::unix::fs::chown(&path, Some(uid), Some(gid)).unwrap();
        }
        crate::tls::certificate(self.folder.path());
        let key = self.path("key.pem");
        std::os::unix::fs::chown(&key, Some(uid), Some(gid)).unwrap();
        let dovecot = format!(
            "base_dir = {folder}/run\nstate_dir = {folder}/run\nlog_path = {folder}/log/dovecot\n\
             protocols = imap\nlisten = 127.0.0.1\nssl = yes\nssl_cert = <{folder}/cert.pem\n\
             ssl_key = <{folder}/key.pem\ndisable_plaintext_auth = no\nauth_failure_delay = 0\n\
             default_internal_user = {USER}\ndefault_internal_group = {USER}\n\
             default_login_user = {USER}\nfirst_valid_uid = 1\nmail_location = maildir:~/Maildir\n\
             maildir_broken_filename_sizes = yes\n\
             passdb {{\n driver = static\n args = password=secret\n}}\n\
             userdb {{\n driver = static\n args = uid={uid} gid={gid} home={folder}/home/%u\n}}\n\
             service imap-login {{\n chroot =\n inet_listener imap {{\n port = {}\n }}\n\
             inet_listener imaps {{\n port = {}\n ssl = yes\n }}\n}}\n\
             service anvil {{\n chroot =\n}}\n",
            self.imap, self.imaps
        );
        fs::write(self.path("dovecot.conf"), dovecot).unwrap();
        let transport = match leaves {
            Leaves::InMailbox => format!(
                "driver = appendfile\n directory = {folder}/home/replies/Maildir\n maildir_format\n \
                 envelope_to_add\n return_path_add"
            ),
            Leaves::At(port) => format!(
                "driver = smtp\n protocol = lmtp\n hosts = 127.0.0.1\n hosts_override\n \
                 allow_localhost\n rcpt_include_affixes\n port = {port}\n return_path_add"
            ),
        };
        // Everybody may send to everybody: what nobody has comes back.
        let exim = format!(
            "keep_environment =\nprimary_hostname = mail.example.com\nspool_directory = {folder}/spool\n\
             log_file_path = {folder}/log/%slog\npid_file_path = {folder}/exim.pid\n\
             tls_advertise_hosts =\ndeliver_drop_privilege = true\nnever_users =\n\
             acl_smtp_rcpt = accept\nacl_smtp_data = accept\n\
             begin routers\n\
             replies:\n driver = accept\n domains = example.com\n local_parts = replies\n \
             local_part_suffix = +*\n local_part_suffix_optional\n transport = replies\n\
             people:\n driver = accept\n domains = example.org\n local_parts = ada : bob\n \
             transport = person\n\
             begin transports\n\
             replies:\n {transport}\n\
             person:\n driver = appendfile\n \
             directory = {folder}/home/$local_part_data/Maildir\n maildir_format\n return_path_add\n\
             begin retry\n* * F,1h,1s\n"
        );
        fs::write(self.path("exim.conf"), exim).unwrap();
    }

    /// Starts Dovecot, also again.
    pub(crate) async fn start_dovecot(&mut self) {
        let mut command = Command::new(DOVECOT);
        command.arg("-F").arg("-c").arg(self.path("dovecot.conf"));
        command.uid(self.user.0).gid(self.user.1);
        self.dovecot = Some(quietly(command));
        reachable(self.imap).await;
        reachable(self.imaps).await;
    }

    /// Ends Dovecot, and every connection to it.
    pub(crate) fn stop_dovecot(&mut self) {
        if let Some(dovecot) = self.dovecot.take() {
            // Asked to, it ends what it started.
            end(dovecot, "TERM");
        }
    }

    async fn start_exim(&mut self) {
        let mut command = Command::new(EXIM);
        command.arg("-C").arg(self.path("exim.conf"));
        // It looks every second at what it could not deliver.
        command.args(["-bdf", "-q1s", "-oX"]).arg(format!("127.0.0.1.{}", self.smtp));
        self.exim = Some(quietly(command));
        reachable(self.smtp).await;
    }

    /// The mailbox answers come into.
    pub(crate) fn mailbox(&self) -> ImapSettings {
        ImapSettings {
            port: self.imap,
            security: ImapSecurity::None,
            ..ImapSettings::new("localhost", "replies", SecretString::new("secret"))
        }
    }

    /// The same, encrypted from the first byte.
    pub(crate) fn encrypted(&self) -> ImapSettings {
        ImapSettings { port: self.imaps, security: ImapSecurity::Tls, ..self.mailbox() }
    }

    /// The certificate of both.
    pub(crate) fn certificate(&self) -> PathBuf {
        self.path("cert.pem")
    }

    /// Sends an email as it is.
    pub(crate) async fn post(&self, from: &str, to: &str, letter: &str) {
        post(self.smtp, from, to, letter).await.unwrap();
    }

    /// Makes a folder in the mailbox answers come into.
    pub(crate) fn make_folder(&self, name: &str) {
        let (uid, gid) = self.user;
        let mailbox = PathBuf::from("home/replies/Maildir");
        let inside = mailbox.join(format!(".{name}"));
        let folders = ["cur", "new", "tmp"].map(|part| inside.join(part));
        let above = [PathBuf::from("home/replies"), mailbox, inside];
        for folder in above.iter().chain(&folders) {
            let path = self.folder.path().join(folder);
            fs::create_dir_all(&path).unwrap();
            std::os::unix::fs::chown(&path, Some(uid), Some(gid)).unwrap();
        }
    }

    /// How many emails lie in a folder of somebody's mailbox, and how many of them were read.
    pub(crate) fn count(&self, who: &str, folder: &str) -> (usize, usize) {
        let letters = self.letters(who, folder);
        let read = |path: &&PathBuf| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            name.split_once(":2,").is_some_and(|(_, flags)| flags.contains('S'))
        };
        (letters.len(), letters.iter().filter(read).count())
    }

    /// Waits until somebody's mailbox is like this.
    pub(crate) async fn until(&self, who: &str, folder: &str, counted: (usize, usize)) {
        let mut look = interval(Duration::from_millis(20));
        let until = async {
            while self.count(who, folder) != counted {
                look.tick().await;
            }
        };
        let in_time = timeout(Duration::from_secs(40), until).await.is_ok();
        assert!(in_time, "{who} {folder}: {:?}, not {counted:?}", self.count(who, folder));
    }

    /// An email somebody got.
    pub(crate) fn letter(&self, who: &str) -> String {
        fs::read_to_string(&self.letters(who, "")[0]).unwrap()
    }

    fn letters(&self, who: &str, folder: &str) -> Vec<PathBuf> {
        let mailbox = self.path("home").join(who).join("Maildir").join(folder);
        let inside = |part: &str| fs::read_dir(mailbox.join(part)).into_iter().flatten();
        inside("new").chain(inside("cur")).map(|entry| entry.unwrap().path()).collect()
    }
}

impl Drop for Servers {
    fn drop(&mut self) {
        self.stop_dovecot();
        if let Some(exim) = self.exim.take() {
            end(exim, "TERM");
        }
        if std::thread::panicking() {
            for log in ["log/dovecot", "log/mainlog", "log/paniclog"] {
                eprintln!("{log}\n{}", fs::read_to_string(self.path(log)).unwrap_or_default());
            }
        }
    }
}

/// Sends an email as it is, over SMTP in the clear.
pub(crate) async fn post(
    port: u16,
    from: &str,
    to: &str,
    letter: &str,
) -> Result<(), lettre::transport::smtp::Error> {
    let from = (!from.is_empty()).then(|| from.parse().unwrap());
    let envelope = Envelope::new(from, vec![to.parse().unwrap()]).unwrap();
    let transport = AsyncSmtpTransport::<Tokio1Executor>::builder_dangerous("127.0.0.1").port(port);
    transport.build().send_raw(&envelope, letter.as_bytes()).await.map(drop)
}

fn says(program: &str, asked: &str, begins: &str) -> bool {
    let said = Command::new(program).arg(asked).output();
    said.is_ok_and(|said| said.stdout.starts_with(begins.as_bytes()))
}

fn quietly(mut command: Command) -> Child {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

fn end(mut process: Child, signal: &str) {
    let told =
        Command::new("kill").arg(format!("-{signal}")).arg(process.id().to_string()).status();
    assert!(told.unwrap().success());
    process.wait().unwrap();
}

async fn reachable(port: u16) {
    let mut look = interval(Duration::from_millis(20));
    let until = async {
        while TcpStream::connect(("127.0.0.1", port)).await.is_err() {
            look.tick().await;
        }
    };
    timeout(Duration::from_secs(30), until).await.expect("the server does not start");
}

/// A port nobody has: below those the system gives to whoever connects, and apart from those of
/// tests that run beside this one.
fn free_port() -> u16 {
    static TAKEN: AtomicU32 = AtomicU32::new(0);
    let candidates = std::iter::repeat_with(|| {
        let taken = TAKEN.fetch_add(1, Ordering::SeqCst);
        let port = 20_000 + (std::process::id() * 16 + taken) % 12_000;
        u16::try_from(port).unwrap()
    });
    let free = |port: &u16| TcpListener::bind(("127.0.0.1", *port)).is_ok();
    candidates.take(12_000).find(free).unwrap()
}

fn id(what: &str, user: Option<&str>) -> Option<u32> {
    let said = Command::new("id").arg(what).args(user).output().ok()?;
    String::from_utf8(said.stdout).ok()?.trim().parse().ok()
}

/// Says why a test does nothing. In CI that is a failure.
#[expect(clippy::disallowed_methods, reason = "tests have no other way to be told")]
fn skipped(why: &str) {
    assert!(std::env::var("CI").as_deref() != Ok("true"), "{why}");
    eprintln!("skipped: {why}");
}

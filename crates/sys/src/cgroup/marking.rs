//! A mark on every socket of a group.
//!
//! A program that knows nothing of marks (`SO_MARK`, socket(7)) gets them by being in a control group: a program of the kernel's own
//! kind (BPF), which the group runs whenever one of its processes makes a socket, writes the mark into it. Rules of routing then
//! tell its packets from all others (ip-rule(8)). `ip vrf exec` binds programs to an interface in the same way.
//!
//! Only groups of generation 2 run programs. Sockets that were made before, or by a process outside that hands them over, have
//! no mark.

use super::home::Generation;
use super::{Group, Home, Made, PREFIX, open_to_write};
use crate::Error;
use rustix::fd::{AsRawFd as _, FromRawFd as _, OwnedFd};
use std::fs::{self, File};
use std::io;

/// Where `struct bpf_sock` has the mark (linux/bpf.h).
const MARK: i16 = 16;
// `BPF_PROG_LOAD` and `BPF_PROG_ATTACH`; `BPF_PROG_TYPE_CGROUP_SOCK`; `BPF_CGROUP_INET_SOCK_CREATE`.
const LOAD: libc::c_long = 5;
const ATTACH: libc::c_long = 8;
const SOCKETS: u32 = 9;
const CREATED: u32 = 2;
const ADVICE: &str = "attaching programs to a control group needs root, a mounted cgroup2 hierarchy, and a kernel with CONFIG_CGROUP_BPF";

/// An instruction (RFC 9669 section 3).
#[repr(C)]
struct Instruction {
    code: u8,
    /// Source in the upper half, destination in the lower.
    registers: u8,
    offset: i16,
    immediate: i32,
}

/// `union bpf_attr` of `BPF_PROG_LOAD`, as far as it is used.
#[repr(C)]
struct Load {
    kind: u32,
    count: u32,
    instructions: u64,
    license: u64,
    log_level: u32,
    log_size: u32,
    log: u64,
    kernel_version: u32,
    flags: u32,
    name: [u8; 16],
    interface: u32,
    expected_attach: u32,
}

/// The same of `BPF_PROG_ATTACH`.
#[repr(C)]
struct Attach {
    target: u32,
    program: u32,
    kind: u32,
    flags: u32,
}

impl Home {
    /// A new group inside this thread's group of generation 2. Every socket that a process in it makes bears `mark`. `name` tells the
    /// group from others of this machine. Whole processes enter it, by [`Group::hold`].
    ///
    /// # Errors
    ///
    /// When this user may not, or the kernel cannot; the message says what it needs.
    pub fn marked(name: &str, mark: u32) -> Result<Group, Error> {
        let home = Self::find_in(Generation::Two)?;
        let folder = home.folder.join(format!("{PREFIX}{name}"));
        fs::create_dir(&folder).map_err(|e| refused("make a group", e))?;
        let made = Made {
            home: home.folder.join(PROCESSES),
            tasks: PROCESSES,
            _lock: File::open(&folder)
                .and_then(|lock| lock.lock().map(|()| lock))
                .map_err(|e| refused("lock a group", e))?,
            folder,
        };
        let program = load(mark).map_err(|e| refused("load", e))?;
        let group = File::open(&made.folder).map_err(|e| refused("open a group", e))?;
        // The group holds the program from now on.
        attach(&program, &group).map_err(|e| refused("attach", e))?;
        Ok(Group {
            threads: open_to_write(&made.folder.join(PROCESSES))?,
            made: Some(made),
        })
    }
}

/// The file that takes and lists processes.
const PROCESSES: &str = "cgroup.procs";

fn refused(operation: &str, error: io::Error) -> Error {
    Error::io(operation, "to mark sockets", error).advise(ADVICE)
}

/// r2 = mark; socket.mark = r2; return 1 (the socket may be).
fn instructions(mark: u32) -> [Instruction; 4] {
    let of = |code, registers, offset, immediate| Instruction {
        code,
        registers,
        offset,
        immediate,
    };
    [
        of(0xb7, 0x02, 0, mark.cast_signed()),
        of(0x63, 0x21, MARK, 0),
        of(0xb7, 0x00, 0, 1),
        of(0x95, 0x00, 0, 0),
    ]
}

fn load(mark: u32) -> io::Result<OwnedFd> {
    let instructions = instructions(mark);
    let license = c"GPL";
    let asked = Load {
        kind: SOCKETS,
        count: 4,
        instructions: instructions.as_ptr() as u64,
        license: license.as_ptr() as u64,
        log_level: 0,
        log_size: 0,
        log: 0,
        kernel_version: 0,
        flags: 0,
        name: *b"isobath_mark\0\0\0\0",
        interface: 0,
        expected_attach: CREATED,
    };
    let fd = bpf(LOAD, &asked)?;
    // SAFETY: the kernel has just made this descriptor for us.
    #[expect(unsafe_code, reason = "a descriptor from a call that no library wraps")]
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

fn attach(program: &OwnedFd, group: &File) -> io::Result<()> {
    let asked = Attach {
        target: group.as_raw_fd().cast_unsigned(),
        program: program.as_raw_fd().cast_unsigned(),
        kind: CREATED,
        flags: 0,
    };
    bpf(ATTACH, &asked).map(|_| ())
}

fn bpf<A>(command: libc::c_long, asked: &A) -> io::Result<i32> {
    // SAFETY: `asked` is laid out as the kernel's union is for this command, whose size it is told, and the memory that it points to
    // outlives the call.
    #[expect(unsafe_code, reason = "bpf(2) has no wrapper")]
    let answer = unsafe {
        libc::syscall(
            libc::SYS_bpf,
            command,
            std::ptr::from_ref(asked),
            size_of::<A>(),
        )
    };
    if answer < 0 {
        return Err(io::Error::last_os_error());
    }
    i32::try_from(answer).map_err(io::Error::other)
}

//! The round-trip times that D printed, in ms.

/// The paths of *10path*: nine of the common TCP evaluation suite of the TMRG, and a tenth (D, section 3.4 iv).
pub const TEN_PATHS_MS: [u32; 10] = [4, 16, 28, 54, 74, 98, 124, 150, 174, 200];

/// What D says of one of its two traces.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Published {
    /// Mean of the minimum round-trip times (section 3.4 ii).
    pub mean_ms: u32,
    /// Their median (section 3.4 iii).
    pub median_ms: u32,
    /// The thirty paths (section 3.4 v). Their mean is below `mean_ms`, for they leave out the longest hundredth.
    pub da_ms: [u32; 30],
    /// First and last value of the uniform model (section 3.4 vi).
    pub uniform_ms: (u32, u32),
}

/// The border link of the University of North Carolina, 10 January 2008, 14:00 to 15:00.
pub const UNC_2008: Published = Published {
    mean_ms: 80,
    median_ms: 36,
    da_ms: [
        8, 8, 10, 10, 12, 14, 14, 16, 18, 20, 22, 24, 26, 30, 34, 38, 42, 48, 52, 60, 74, 80, 82,
        86, 92, 98, 124, 172, 258, 420,
    ],
    uniform_ms: (10, 200),
};

/// A development site of IBM, 10 October 2006, 14:20 to 15:20.
pub const IBM_2006: Published = Published {
    mean_ms: 92,
    median_ms: 68,
    da_ms: [
        22, 28, 32, 36, 40, 44, 46, 46, 48, 52, 54, 56, 58, 62, 66, 70, 74, 78, 82, 86, 92, 96,
        102, 108, 114, 122, 136, 154, 188, 310,
    ],
    uniform_ms: (30, 150),
};

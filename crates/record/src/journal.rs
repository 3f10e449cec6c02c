//! A table while the run goes: an Arrow IPC stream whose end may be missing.
//!
//! The file is a schema followed by record batches, each whole in itself, so everything before the point where a
//! process died can be read. A write that fails halfway (a full disk) is cut off again and kept in memory, so that
//! the file stays a run of whole batches and the next flush tries again.

use crate::error::{Error, decode};
use crate::input;
use crate::table::Row;
use arrow_array::{ArrayRef, RecordBatch};
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::SchemaRef;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Rows of a batch: they are near the processor while columns are made of them, and the columns when they are read again.
const BATCH_ROWS: usize = 4_096;
/// What may wait in memory for the next flush.
const MAX_PENDING_BYTES: usize = 1 << 20;

/// The writing end.
pub(crate) struct Journal {
    path: PathBuf,
    schema: SchemaRef,
    file: File,
    /// Where the whole batches in the file end.
    whole: u64,
    /// Encodes into memory; what it holds is not in the file yet.
    encoder: StreamWriter<Vec<u8>>,
}

impl Journal {
    pub(crate) fn create(path: &Path, schema: SchemaRef) -> Result<Self, Error> {
        Ok(Self {
            path: path.to_owned(),
            file: File::create_new(path).map_err(Error::write(path))?,
            whole: 0,
            encoder: StreamWriter::try_new(Vec::new(), &schema).map_err(Error::table(path))?,
            schema,
        })
    }

    /// Adds rows of the type that the journal was made for.
    pub(crate) fn append<T: Row>(&mut self, rows: &[T]) -> Result<(), Error> {
        let mut appended = Ok(());
        for rows in rows.chunks(BATCH_ROWS) {
            // What the disk does not take now is kept, so all go on.
            let batch = self.append_batch(T::columns(rows));
            appended = appended.and(batch);
        }
        appended
    }

    fn append_batch(&mut self, columns: Vec<ArrayRef>) -> Result<(), Error> {
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), columns);
        let written = batch.and_then(|batch| self.encoder.write(&batch));
        written.map_err(Error::table(&self.path))?;
        if self.encoder.get_ref().len() > MAX_PENDING_BYTES {
            self.flush()?;
        }
        Ok(())
    }

    /// Hands everything to the operating system, where it outlives this process.
    pub(crate) fn flush(&mut self) -> Result<(), Error> {
        let pending = self.encoder.get_mut();
        if let Err(error) = self.file.write_all(pending) {
            // When not even this succeeds, a reader still stops at the cut.
            let _ = self.file.set_len(self.whole);
            let _ = self.file.seek(SeekFrom::Start(self.whole));
            return Err(Error::write(&self.path)(error));
        }
        self.whole += pending.len() as u64;
        pending.clear();
        Ok(())
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        // Who wants to know the error flushes first.
        let _ = self.flush();
    }
}

/// The reading end. Ends before a batch that the end of the file cuts short.
pub(crate) struct JournalReader {
    path: PathBuf,
    stream: StreamReader<Tail<BufReader<File>>>,
}

impl JournalReader {
    /// Opens a journal; `None` when its writer did not get as far as the schema.
    pub(crate) fn open(path: &Path) -> Result<Option<Self>, Error> {
        let file = input::open_file(path)?;
        let mut tail = Tail {
            inner: BufReader::new(file),
            ended: false,
        };
        // The stream takes its source with it when it fails, so whether it ended is seen on a first pass.
        let probed = decode(path, || StreamReader::try_new(&mut tail, None).map(|_| ()));
        if tail.ended {
            return Ok(None);
        }
        probed?;
        tail.inner.rewind().map_err(Error::read(path))?;
        Ok(Some(Self {
            path: path.to_owned(),
            stream: decode(path, || StreamReader::try_new(tail, None))?,
        }))
    }

    pub(crate) fn schema(&self) -> SchemaRef {
        self.stream.schema()
    }
}

impl Iterator for JournalReader {
    type Item = Result<RecordBatch, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let batch = decode(&self.path, || self.stream.next().transpose());
        if batch.is_err() && self.stream.get_ref().ended {
            return None;
        }
        batch.transpose()
    }
}

/// A reader that remembers whether it was asked for more than there is: that is what tells a file that is cut short
/// from one that is damaged.
struct Tail<R> {
    inner: R,
    ended: bool,
}

impl<R: Read> Read for Tail<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.ended |= read == 0 && !buffer.is_empty();
        Ok(read)
    }
}

//! A table: Arrow's columns, in memory.

use crate::arrays;
use crate::errors::failed;
use arrow_array::ffi::FFI_ArrowSchema;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{RecordBatch, RecordBatchIterator};
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::SchemaRef;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule};
use std::io::Cursor;

/// Columns of equal length, each with a name, a type, a unit and a description.
///
/// Whatever reads Arrow's C data interface (pandas, Polars, pyarrow) takes it as it is, without a copy.
#[pyclass(frozen, module = "isobath._isobath")]
pub(crate) struct Table {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
}

impl Table {
    pub(crate) const fn new(schema: SchemaRef, batches: Vec<RecordBatch>) -> Self {
        Self { schema, batches }
    }

    /// A table of one batch.
    pub(crate) fn of(batch: RecordBatch) -> Self {
        Self::new(batch.schema(), vec![batch])
    }

    /// Of batches that share a schema; none without any.
    pub(crate) fn of_batches(batches: Vec<RecordBatch>) -> Option<Self> {
        let schema = batches.first()?.schema();
        Some(Self::new(schema, batches))
    }
}

/// What is known of a column: name, type, unit and description, the last two of which may be empty.
type About = (String, String, String, String);

#[pymethods]
impl Table {
    /// Number of rows.
    #[getter]
    fn num_rows(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    /// Name, type, unit and description of each column.
    fn columns(&self) -> Vec<About> {
        let fields = self.schema.fields().iter();
        let columns = fields.map(|field| {
            let metadata = |key: &str| field.metadata().get(key).cloned().unwrap_or_default();
            let name = field.name().clone();
            let kind = field.data_type().to_string();
            (name, kind, metadata("unit"), metadata("description"))
        });
        columns.collect()
    }

    /// What a row is; empty when unknown.
    #[getter]
    fn description(&self) -> String {
        let about = self.schema.metadata().get("description");
        about.cloned().unwrap_or_default()
    }

    /// A column's values: for numbers a format of `struct` and the octets, for words a list.
    fn column<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let at = self.schema.index_of(name).map_err(|_| {
            let known: Vec<_> = self
                .schema
                .fields()
                .iter()
                .map(|f| f.name().as_str())
                .collect();
            failed(format!(
                "no column '{name}' - there are {}",
                known.join(", ")
            ))
        })?;
        let parts: Vec<_> = self.batches.iter().map(|batch| batch.column(at)).collect();
        arrays::column(py, self.schema.field(at), &parts)
    }

    /// The table in Arrow's stream format.
    fn to_ipc<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let written = || {
            let mut writer = StreamWriter::try_new(Vec::new(), &self.schema)?;
            for batch in &self.batches {
                writer.write(batch)?;
            }
            writer.into_inner()
        };
        Ok(PyBytes::new(py, &written().map_err(failed)?))
    }

    /// The table that `to_ipc` has written.
    #[staticmethod]
    fn from_ipc(octets: &[u8]) -> PyResult<Self> {
        let reader = StreamReader::try_new(Cursor::new(octets), None).map_err(failed)?;
        let schema = reader.schema();
        let batches = reader.collect::<Result<_, _>>().map_err(failed)?;
        Ok(Self::new(schema, batches))
    }

    /// The columns by Arrow's C data interface, to be taken once.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // Another schema is a wish that a producer need not fulfil.
        drop(requested_schema);
        let batches = self.batches.clone().into_iter().map(Ok);
        let reader = RecordBatchIterator::new(batches, SchemaRef::clone(&self.schema));
        let stream = FFI_ArrowArrayStream::new(Box::new(reader));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    /// The schema by Arrow's C data interface.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(&*self.schema).map_err(failed)?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }
}

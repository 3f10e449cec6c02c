//! A table for good: Parquet, compressed with zstd.

use crate::error::{Error, decode};
use crate::input;
use crate::journal::JournalReader;
use crate::parquet_writer::ParquetWriter;
use arrow_array::RecordBatch;
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::column::page::{Page, PageReader};
use parquet::errors::ParquetError;
use parquet::file::metadata::ParquetMetaData;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesBuilder};
use parquet::file::serialized_reader::SerializedPageReader;
use parquet::schema::types::ColumnPath;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Rows that are decoded at a time: those of the widest table stay near the processor.
const BATCH_ROWS: usize = 8_192;
/// Rows of a row group of a record's tables.
pub(crate) const GROUP_ROWS: usize = 1 << 20;

/// A Parquet file as a stream of batches.
pub(crate) struct ParquetFile {
    path: PathBuf,
    schema: SchemaRef,
    batches: ParquetRecordBatchReader,
}

impl ParquetFile {
    pub(crate) fn open(path: &Path) -> Result<Self, Error> {
        Self::read(path, |_| true)
    }

    /// Of the columns of `fields`, as far as they are there.
    pub(crate) fn open_columns(path: &Path, fields: &[Field]) -> Result<Self, Error> {
        Self::read(path, |name| fields.iter().any(|field| field.name() == name))
    }

    /// Of the columns whose names are `wanted`.
    fn read(path: &Path, wanted: impl Fn(&str) -> bool) -> Result<Self, Error> {
        let file = input::open_file(path)?;
        decode(path, || {
            let builder = ParquetRecordBatchReaderBuilder::try_new(file.try_clone()?)?;
            check_dictionaries(&Arc::new(file), builder.metadata())?;
            let schema = Arc::clone(builder.schema());
            let columns = schema.fields().iter().enumerate();
            let columns = columns.filter(|(_, field)| wanted(field.name()));
            let columns = columns.map(|(place, _)| place);
            let mask = ProjectionMask::roots(builder.parquet_schema(), columns);
            Ok::<_, ParquetError>(Self {
                path: path.to_owned(),
                schema,
                batches: builder
                    .with_projection(mask)
                    .with_batch_size(BATCH_ROWS)
                    .build()?,
            })
        })
    }

    pub(crate) fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

impl Iterator for ParquetFile {
    type Item = Result<RecordBatch, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        decode(&self.path, || self.batches.next().transpose()).transpose()
    }
}

/// Refuses a column whose dictionary claims more values than its bytes can hold.
///
/// The decoder makes room for as many values as the page claims, so one wrong bit could ask for 32 GB, and a failed
/// allocation ends the process.
fn check_dictionaries(file: &Arc<File>, metadata: &ParquetMetaData) -> Result<(), ParquetError> {
    for group in metadata.row_groups() {
        for column in group.columns() {
            let mut pages = SerializedPageReader::new(Arc::clone(file), column, 0, None)?;
            if pages.peek_next_page()?.is_some_and(|page| page.is_dict)
                && let Some(Page::DictionaryPage {
                    buf, num_values, ..
                }) = pages.get_next_page()?
                && num_values as usize > buf.len()
            {
                let problem = format!("a dictionary of {num_values} values in {} bytes", buf.len());
                return Err(ParquetError::General(problem));
            }
        }
    }
    Ok(())
}

/// Turns the journal into the Parquet file, and removes it once that is safely on disk.
///
/// A journal without a whole schema has no rows to turn; it stays.
pub(crate) fn settle(journal: &Path, parquet: &Path) -> Result<(), Error> {
    if !parquet.exists() {
        let Some(batches) = JournalReader::open(journal)? else {
            return Ok(());
        };
        let mut writer = ParquetWriter::create(parquet, batches.schema(), GROUP_ROWS)?;
        for batch in batches {
            writer.write(&batch?)?;
        }
        writer.finish()?;
    }
    fs::remove_file(journal).map_err(Error::write(journal))
}

/// How all our files are written. Of whole numbers only the differences are: times grow, numbers repeat, and a dictionary of them costs more
/// time than it saves room. Of words nobody asks which is the least and which the greatest.
pub(crate) fn properties(schema: &Schema) -> WriterPropertiesBuilder {
    let compression = Compression::ZSTD(ZstdLevel::default());
    let properties = WriterProperties::builder().set_compression(compression);
    schema
        .fields()
        .iter()
        .fold(properties, |properties, field| {
            let column = ColumnPath::from(field.name().as_str());
            match field.data_type() {
                whole if whole.is_integer() => properties
                    .set_column_dictionary_enabled(column.clone(), false)
                    .set_column_encoding(column, Encoding::DELTA_BINARY_PACKED),
                DataType::Utf8 => {
                    properties.set_column_statistics_enabled(column, EnabledStatistics::None)
                }
                _ => properties,
            }
        })
}

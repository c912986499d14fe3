//! Compression around any format: gzip and zstd, recognised by their first bytes when reading.

use std::fmt;
use std::io::{self, BufWriter, ErrorKind, Read, Write};
use std::path::Path;

use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;

const GZIP_MAGIC: &[u8] = b"\x1f\x8b";
const ZSTD_MAGIC: &[u8] = b"\x28\xb5\x2f\xfd";

/// How an output is compressed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Compression {
    /// Not at all.
    #[default]
    None,
    /// As `gzip` does.
    Gzip,
    /// As `zstd` does.
    Zstd,
}

impl Compression {
    /// What the end of a file's name asks for: `.gz`, `.zst` or nothing.
    pub fn from_extension(path: &Path) -> Compression {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("gz") => Compression::Gzip,
            Some("zst") => Compression::Zstd,
            _ => Compression::None,
        }
    }

    /// What the first bytes of an input say.
    pub(crate) fn of(first_bytes: &[u8]) -> Compression {
        if first_bytes.starts_with(GZIP_MAGIC) {
            Compression::Gzip
        } else if first_bytes.starts_with(ZSTD_MAGIC) {
            Compression::Zstd
        } else {
            Compression::None
        }
    }

    /// What is written here arrives compressed at `output`. Call [`Compressed::finish`] at the end.
    pub fn writer(self, output: Box<dyn Write>) -> io::Result<Compressed> {
        Ok(Compressed(match self {
            Compression::None => Encoder::Plain(BufWriter::new(output)),
            Compression::Gzip => {
                Encoder::Gzip(BufWriter::new(GzEncoder::new(output, flate2::Compression::default())))
            }
            Compression::Zstd => {
                let level = zstd::DEFAULT_COMPRESSION_LEVEL;
                Encoder::Zstd(BufWriter::new(zstd::stream::write::Encoder::new(output, level)?))
            }
        }))
    }

    /// What `input` holds once decompressed. An input that ends too early is an error that says so.
    pub(crate) fn reader(self, input: Box<dyn Read>) -> io::Result<Box<dyn Read>> {
        Ok(match self {
            Compression::None => input,
            Compression::Gzip => Box::new(Complete(MultiGzDecoder::new(input))),
            Compression::Zstd => Box::new(Complete(zstd::stream::read::Decoder::new(input)?)),
        })
    }
}

/// An output that compresses, or does not. Without [`Compressed::finish`] the last bytes are missing.
pub struct Compressed(Encoder);

enum Encoder {
    Plain(BufWriter<Box<dyn Write>>),
    Gzip(BufWriter<GzEncoder<Box<dyn Write>>>),
    Zstd(BufWriter<zstd::stream::write::Encoder<'static, Box<dyn Write>>>),
}

impl Compressed {
    /// Writes out everything that is still held back, including the end of the compressed stream.
    pub fn finish(self) -> io::Result<()> {
        let mut output = match self.0 {
            Encoder::Plain(output) => output.into_inner()?,
            Encoder::Gzip(encoder) => encoder.into_inner()?.finish()?,
            Encoder::Zstd(encoder) => encoder.into_inner()?.finish()?,
        };
        output.flush()
    }

    fn encoder(&mut self) -> &mut dyn Write {
        match &mut self.0 {
            Encoder::Plain(output) => output,
            Encoder::Gzip(encoder) => encoder,
            Encoder::Zstd(encoder) => encoder,
        }
    }
}

impl Write for Compressed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.encoder().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.encoder().flush()
    }
}

impl From<Box<dyn Write>> for Compressed {
    fn from(output: Box<dyn Write>) -> Compressed {
        Compressed(Encoder::Plain(BufWriter::new(output)))
    }
}

impl fmt::Debug for Compressed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let compression = match self.0 {
            Encoder::Plain(_) => Compression::None,
            Encoder::Gzip(_) => Compression::Gzip,
            Encoder::Zstd(_) => Compression::Zstd,
        };
        f.debug_tuple("Compressed").field(&compression).finish()
    }
}

/// Says in plain words what a decoder means by an unexpected end of file.
struct Complete<R>(R);

impl<R: Read> Read for Complete<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer).map_err(|error| match error.kind() {
            ErrorKind::UnexpectedEof => {
                io::Error::new(ErrorKind::UnexpectedEof, "the compressed input ends in the middle")
            }
            _ => error,
        })
    }
}

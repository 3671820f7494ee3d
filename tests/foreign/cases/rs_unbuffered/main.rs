// Writes records with a call each, or through a BufWriter.
use std::fs::File;
use std::io::{BufWriter, Write};

fn main() -> std::io::Result<()> {
    let cured = std::env::args().nth(1).as_deref() == Some("twin");
    let file = File::create("records.bin")?;
    let mut out: Box<dyn Write> = if cured { Box::new(BufWriter::new(file)) } else { Box::new(file) };
    for i in 0u64..900000 {
        out.write_all(&i.to_le_bytes())?;
    }
    out.flush()?;
    println!("records 900000");
    Ok(())
}

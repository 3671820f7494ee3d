// Computes square roots and writes them through a BufWriter.
use std::fs::File;
use std::io::{BufWriter, Write};

fn main() -> std::io::Result<()> {
    let mut out = BufWriter::with_capacity(1 << 20, File::create("roots.bin")?);
    let mut sum = 0f64;
    for i in 0..10_000_000u32 {
        let root = (i as f64).sqrt();
        sum += root;
        out.write_all(&root.to_le_bytes())?;
    }
    out.flush()?;
    println!("sum {:.3}", sum);
    Ok(())
}

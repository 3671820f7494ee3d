// A write-ahead log that calls sync_all after each record, or after the last.
use std::fs::File;
use std::io::Write;

fn main() -> std::io::Result<()> {
    let cured = std::env::args().nth(1).as_deref() == Some("twin");
    let mut file = File::create("wal.log")?;
    let record = [65u8; 1024];
    for _ in 0..800 {
        file.write_all(&record)?;
        if !cured {
            file.sync_all()?;
        }
    }
    file.sync_all()?;
    println!("records 800");
    Ok(())
}

// Copies a file through streams with pieces of 1 MiB.
const fs = require("fs");

fs.createReadStream("input.bin", { highWaterMark: 1 << 20 })
  .pipe(fs.createWriteStream("copy.bin", { highWaterMark: 1 << 20 }))
  .on("finish", () => console.log("bytes", fs.statSync("copy.bin").size));

// Writes lines with a synchronous call each, or joined into large pieces.
const fs = require("fs");

const cured = process.argv[2] === "twin";
const file = fs.openSync("lines.txt", "w");
let kept = [];
for (let i = 0; i < 300000; i++) {
  const line = `${i} ${(i * 7) % 1013}\n`;
  if (!cured) {
    fs.writeSync(file, line);
    continue;
  }
  kept.push(line);
  if (kept.length === 10000) {
    fs.writeSync(file, kept.join(""));
    kept = [];
  }
}
if (kept.length) fs.writeSync(file, kept.join(""));
fs.closeSync(file);
console.log("lines 300000");

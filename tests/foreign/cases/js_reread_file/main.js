// Reads the whole input for each request, or once.
const fs = require("fs");

const cured = process.argv[2] === "twin";
let data = null;
let total = 0;
for (let request = 0; request < 200; request++) {
  if (data === null || !cured) data = fs.readFileSync("input.bin");
  total += data[request * 4099];
}
console.log("total", total);

// Asks for each item whether its file exists, or reads the folder once.
const fs = require("fs");

const cured = process.argv[2] === "twin";
const present = cured ? new Set(fs.readdirSync("items")) : null;
let found = 0;
for (let i = 0; i < 250000; i++) {
  const name = `item${String(i % 4000).padStart(6, "0")}`;
  found += cured ? present.has(name) : fs.existsSync(`items/${name}`);
}
console.log("found", found);

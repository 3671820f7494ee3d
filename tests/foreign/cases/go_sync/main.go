// Appends records, and syncs the file after each, or at the end.
package main

import (
	"fmt"
	"os"
)

func main() {
	cured := len(os.Args) > 1 && os.Args[1] == "twin"
	file, err := os.Create("records.log")
	if err != nil {
		panic(err)
	}
	for i := 0; i < 1500; i++ {
		fmt.Fprintf(file, "record %06d with some payload\n", i)
		if !cured {
			file.Sync()
		}
	}
	file.Sync()
	file.Close()
	fmt.Println("records 1500")
}

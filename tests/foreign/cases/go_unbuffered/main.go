// Writes lines to a file without a buffer, or with one.
package main

import (
	"bufio"
	"fmt"
	"os"
)

func main() {
	file, err := os.Create("lines.txt")
	if err != nil {
		panic(err)
	}
	if len(os.Args) > 1 && os.Args[1] == "twin" {
		buffer := bufio.NewWriterSize(file, 1<<20)
		for i := 0; i < 700000; i++ {
			fmt.Fprintln(buffer, i, i*7%1013)
		}
		buffer.Flush()
	} else {
		for i := 0; i < 700000; i++ {
			fmt.Fprintln(file, i, i*7%1013)
		}
	}
	file.Close()
	fmt.Println("lines 700000")
}

// Goroutines on stacks of a few KiB that compute, call each other deeply, and end with an exit code of their own.
package main

import "C"

import (
	"fmt"
	"os"
	"sync"
)

func fibonacci(n int) int {
	if n < 2 {
		return n
	}
	return fibonacci(n-1) + fibonacci(n-2)
}

func main() {
	var group sync.WaitGroup
	sums := make([]int, 8)
	for i := range sums {
		group.Add(1)
		go func(i int) {
			defer group.Done()
			sums[i] = fibonacci(32)
		}(i)
	}
	group.Wait()
	fmt.Println(sums)
	os.Exit(3)
}

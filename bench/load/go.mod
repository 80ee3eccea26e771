module cartorio/bench/load

go 1.21

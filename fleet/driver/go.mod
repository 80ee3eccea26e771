module cartorio/fleet

go 1.21

module cartorio/reliability/abuse

go 1.21

// svc-ca: the embedded CA. Whatever a command needs is loaded when it runs, so that help and version are quick.

import { Command } from 'commander'
import { addCompletionCommand } from '../completion/completion.ts'
import { runProgram } from '../platform/program.ts'
import { readVersion } from '../platform/version.ts'

interface InitOptions {
  readonly dir: string
  readonly name: string
  readonly dns?: string[]
  readonly listen: string
  readonly certDuration: string
  readonly json?: true
}

interface ServeOptions {
  readonly dir: string
  readonly listen?: string
}

const DNS_NAMES = ['localhost', '127.0.0.1', '::1']

const program = new Command('svc-ca')
  .description(
    'The embedded CA: the part of step-ca that a hub uses, for demos, tests and laptops.\n' +
      'In production, point the hub at a real step-ca.',
  )
  .version(readVersion())
  .addHelpText(
    'after',
    `
Examples:
  umask 077                            # the next files hold keys
  svc-ca init --dir ./ca > hub.env     # make a CA, keep the settings for the hub
  svc-ca serve --dir ./ca              # serve it until SIGTERM
  set -a; . ./hub.env; set +a          # in the shell of svc init and svc-server; see svc-server --help`,
  )

program
  .command('init')
  .description('make a CA in a new directory and print the four SVC_CA_* settings of a hub')
  .requiredOption('--dir <directory>', 'where the CA will live; must be empty or absent')
  .option('--name <name>', 'what the CA calls itself in its certificates', 'Cartorio Dev')
  .option('--dns <name...>', `names and addresses of the CA (default: ${DNS_NAMES.join(' ')})`)
  .option(
    '--listen <address:port>',
    'where to serve; port 0 lets the system choose',
    '127.0.0.1:9000',
  )
  .option('--cert-duration <duration>', 'how long a certificate lives by default', '24h')
  .option('--json', 'print one JSON document instead of shell lines')
  .addHelpText(
    'after',
    `
The output holds the provisioner's private key: keep it like a password.

Examples:
  svc-ca init --dir ./ca
  umask 077; svc-ca init --dir /var/lib/svc-ca --dns ca.example.org --listen 0.0.0.0:9000 > hub.env
  svc-ca init --dir ./short-lived --cert-duration 10m --json`,
  )
  .action(async (options: InitOptions) => {
    const { runInit } = await import('./run-init.ts')
    await runInit({
      directory: options.dir,
      name: options.name,
      dnsNames: options.dns ?? DNS_NAMES,
      listen: options.listen,
      certDuration: options.certDuration,
      json: options.json === true,
    })
  })

program
  .command('serve')
  .description('serve the CA of a directory over HTTPS; prints one line when it is ready')
  .requiredOption('--dir <directory>', 'the directory that svc-ca init made')
  .option('--listen <address:port>', 'where to serve, instead of the address given to init')
  .addHelpText(
    'after',
    `
Examples:
  svc-ca serve --dir ./ca
  svc-ca serve --dir ./ca --listen 127.0.0.1:0
  curl --cacert ./ca/root.crt https://127.0.0.1:9000/health`,
  )
  .action(async (options: ServeOptions) => {
    const { runServe } = await import('./run-serve.ts')
    await runServe(options.dir, options.listen, process.env)
  })

addCompletionCommand(program)

void runProgram('svc-ca', async () => {
  await program.parseAsync()
})

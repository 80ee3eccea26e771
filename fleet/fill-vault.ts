// `npm run fleet:fill -- --vault DIRECTORY`: a new vault as a fleet leaves it behind after months, for hubs to be measured with.

import { readSecret } from '../src/hub/read-secret.ts'
import { initVault } from '../src/hub/vault/vault.ts'
import { UserError } from '../src/platform/errors.ts'
import { runProgram } from '../src/platform/program.ts'
import { parseCommandOptions } from '../tools/command-options.ts'
import { parseCount } from './parse-count.ts'
import type { FilledSizes } from './planned-fleet.ts'
import { fillVault } from './vault-filler.ts'

const HINT = 'npm run fleet:fill -- --help'
const SIZES: FilledSizes = { agents: 100_000, certificates: 1_000_000, entries: 10_000_000 }
const HELP = `Usage: npm run fleet:fill -- --vault DIRECTORY [options]

A new vault as a fleet leaves it behind after months.

Options:
  --vault DIRECTORY   where it goes; must not exist
  --agents N          default: ${SIZES.agents}
  --certificates N    default: ${SIZES.certificates}
  --entries N         of the audit log; default: ${SIZES.entries}
  -h, --help          print this

Environment:
  SVC_MASTER_PASSPHRASE, or SVC_MASTER_PASSPHRASE_FILE: the vault’s passphrase

Example:
  SVC_MASTER_PASSPHRASE=measured-and-thrown-away npm run fleet:fill -- --vault /tmp/large --agents 20000
`

await runProgram('fleet:fill', async () => {
  const values = parseCommandOptions({
    name: 'fleet:fill',
    args: process.argv.slice(2),
    options: {
      vault: { type: 'string' },
      agents: { type: 'string' },
      certificates: { type: 'string' },
      entries: { type: 'string' },
    },
    help: HELP,
  })
  if (values === undefined) return
  if (values.vault === undefined) {
    throw new UserError('usage', '--vault is missing', { hint: HINT })
  }
  const sizes = {
    agents: parseCount('agents', values.agents, SIZES.agents, HINT),
    certificates: parseCount('certificates', values.certificates, SIZES.certificates, HINT),
    entries: parseCount('entries', values.entries, SIZES.entries, HINT),
  }
  const passphrase = readSecret(process.env, 'SVC_MASTER_PASSPHRASE')
  const startedMs = performance.now()
  const progress = (text: string): void => void process.stderr.write(`fleet:fill: ${text}\n`)
  const vault = await initVault(values.vault, passphrase)
  // tidy: the vault's past ends now.
  fillVault(vault, sizes, new Date(), progress)
  const seconds = Math.round((performance.now() - startedMs) / 1000)
  progress(`${values.vault} is full after ${seconds} s`)
})

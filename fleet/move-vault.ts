// `npm run fleet:move`: a large vault is moved into a PostgreSQL and back, and each way is killed again and again.

import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { renderTable } from '../src/admin/terminal/table.ts'
import { runProgram } from '../src/platform/program.ts'
import { createSeededRandom, seedFrom } from '../test/simulation/seeded-random.ts'
import { startPostgresql } from '../test/support/postgresql.ts'
import { parseCommandOptions } from '../tools/command-options.ts'
import { makeMovedVault } from './moved-vault.ts'
import { parseCount } from './parse-count.ts'
import { VaultMover } from './vault-mover.ts'

const SIZES = { agents: 10_000, certificates: 50_000, entries: 1_000_000 }
const KILLS = 10
const HINT = 'npm run fleet:move -- --help'
const HELP = `Usage: npm run fleet:move -- [options]

Fills a vault, and moves it into a PostgreSQL and back with svc vault migrate. Then each way is killed, at as many moments all over its time:
the vault has to open after each, in its place or in the other one, with every entry and the same tree over its log.

Options:
  --agents N          default: ${SIZES.agents}
  --certificates N    default: ${SIZES.certificates}
  --entries N         of the audit log; default: ${SIZES.entries}
  --kills N           of each way; default: ${KILLS}
  --seed N            what chance begins with; each run prints its own
  -h, --help          print this

It needs PostgreSQL, and room for three times the vault (a vault of the default size has 700 MB).

Exit status: 0 when nothing was lost, else 1.

Example:
  npm run fleet:move -- --agents 1000 --entries 100000 --kills 3
`

await runProgram('fleet:move', async () => {
  const values = parseCommandOptions({
    name: 'fleet:move',
    args: process.argv.slice(2),
    options: {
      agents: { type: 'string' },
      certificates: { type: 'string' },
      entries: { type: 'string' },
      kills: { type: 'string' },
      seed: { type: 'string' },
    },
    help: HELP,
  })
  if (values === undefined) return
  const sizes = {
    agents: parseCount('agents', values.agents, SIZES.agents, HINT),
    certificates: parseCount('certificates', values.certificates, SIZES.certificates, HINT),
    entries: parseCount('entries', values.entries, SIZES.entries, HINT),
  }
  const kills = parseCount('kills', values.kills, KILLS, HINT)
  const seed = seedFrom(values.seed)
  const directory = await mkdtemp(join(tmpdir(), 'moved-'))
  try {
    await using server = await startPostgresql()
    const environment = {
      SVC_VAULT_ROOT: join(directory, 'vault'),
      SVC_MASTER_PASSPHRASE: 'measured and thrown away',
      SVC_DATABASE_URL: server.url,
    }
    const vault = await makeMovedVault(environment, sizes, server.servers, progress)
    const { size } = await stat(join(environment.SVC_VAULT_ROOT, 'db.enc'))
    const random = createSeededRandom(seed)
    const mover = new VaultMover({ vault, environment, random, progress })
    await mover.moveTo('postgresql')
    await mover.moveTo('embedded')
    await mover.killOnTheWay('postgresql', kills)
    await mover.moveTo('postgresql')
    await mover.killOnTheWay('embedded', kills)
    await mover.moveTo('embedded')
    progress('every hash of the log, and the tree over it')
    mover.faults.push(...(await vault.findChainFaults()))
    process.stdout.write(renderTable(['TO', 'KILLED_AFTER_S', 'TOOK_S', 'THEN'], mover.rows))
    process.stdout.write(
      `${sizes.agents} agents, ${sizes.entries} entries, ${Math.round(size / 1024 ** 2)} MiB; seed ${seed}; lost: ${mover.faults.join('; ') || 'nothing'}\n`,
    )
    if (mover.faults.length > 0) process.exitCode = 1
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
})

function progress(text: string): void {
  process.stderr.write(`fleet:move: ${text}\n`)
}

// `npm run fleet:compare -- --small VAULT --large VAULT`: what each operation costs a hub's
// process with one vault and with the other, in CPU time, side by side in the same process. It changes both vaults.

import { renderTable } from '../src/admin/terminal/table.ts'
import { readSecret } from '../src/hub/read-secret.ts'
import { UserError } from '../src/platform/errors.ts'
import { runProgram } from '../src/platform/program.ts'
import { parseCommandOptions } from '../tools/command-options.ts'
import { openComparedVault, type ComparedVault } from './compared-vault.ts'
import { COMPARED_OPERATIONS, type ComparedOperation, POLL } from './compared-operations.ts'

const ROUNDS = 7
const SECONDS = 0.2
const HINT = 'npm run fleet:compare -- --help'
const HELP = `Usage: npm run fleet:compare -- --small VAULT --large VAULT [options]

What each operation costs a hub’s process with one vault and with the other, in CPU time, side by side in one process. It changes both vaults.

Options:
  --small VAULT       a vault of npm run fleet:fill
  --large VAULT       another, with the same passphrase
  --seconds S         of each side of each round (default: ${SECONDS})
  --only NAME         this operation; may be given several times (default: all)
  -h, --help          print this

Operations:
${COMPARED_OPERATIONS.map(({ name }) => `  ${name}\n`).join('')}
Environment:
  SVC_MASTER_PASSPHRASE, or SVC_MASTER_PASSPHRASE_FILE: the passphrase of both vaults

Example:
  SVC_MASTER_PASSPHRASE=measured-and-thrown-away npm run fleet:compare -- --small /tmp/small --large /tmp/large
`

await runProgram('fleet:compare', async () => {
  const values = parseCommandOptions({
    name: 'fleet:compare',
    args: process.argv.slice(2),
    options: {
      small: { type: 'string' },
      large: { type: 'string' },
      seconds: { type: 'string' },
      only: { type: 'string', multiple: true },
    },
    help: HELP,
  })
  if (values === undefined) return
  if (values.small === undefined || values.large === undefined) {
    throw new UserError('usage', '--small and --large name two vaults of npm run fleet:fill', {
      hint: HINT,
    })
  }
  const seconds = Number(values.seconds ?? SECONDS)
  if (!(seconds > 0 && seconds <= 60)) {
    throw new UserError('usage', '--seconds is from 0 to 60', { hint: HINT })
  }
  const unknown = values.only?.find((name) => COMPARED_OPERATIONS.every((one) => one.name !== name))
  if (unknown !== undefined) {
    throw new UserError('usage', `there is no operation ${unknown}`, { hint: HINT })
  }
  const passphrase = readSecret(process.env, 'SVC_MASTER_PASSPHRASE')
  await using small = await openComparedVault(values.small, passphrase)
  await using large = await openComparedVault(values.large, passphrase)
  for (const vault of [small, large]) await pollOnce(vault)
  const rows: string[][] = []
  for (const operation of COMPARED_OPERATIONS) {
    if (values.only !== undefined && !values.only.includes(operation.name)) continue
    rows.push(await compare(operation, small, large, seconds))
    process.stderr.write(`fleet:compare: ${rows.at(-1)?.join('  ')}\n`)
  }
  process.stdout.write(renderTable(['OPERATION', 'SMALL_CPU_MS', 'LARGE_CPU_MS', 'RATIO'], rows))
})

/** Of each agent: a hub that has run for half a minute has met its whole fleet. */
async function pollOnce(vault: ComparedVault): Promise<void> {
  for (let count = 0; count < vault.agentCount;) count += await POLL.run(vault)
}

/** Medians of rounds that take turns, so that whatever else the machine does meets both. */
async function compare(
  operation: ComparedOperation,
  small: ComparedVault,
  large: ComparedVault,
  seconds: number,
): Promise<string[]> {
  const costs: { small: number[]; large: number[] } = { small: [], large: [] }
  await cpuMsOf(operation, small, seconds)
  await cpuMsOf(operation, large, seconds)
  for (let round = 0; round < ROUNDS; round += 1) {
    costs.small.push(await cpuMsOf(operation, small, seconds))
    costs.large.push(await cpuMsOf(operation, large, seconds))
  }
  const [one, other] = [medianOf(costs.small), medianOf(costs.large)]
  return [operation.name, one.toFixed(4), other.toFixed(4), (other / one).toFixed(2)]
}

async function cpuMsOf(
  { run }: ComparedOperation,
  vault: ComparedVault,
  seconds: number,
): Promise<number> {
  const before = process.cpuUsage()
  let count = 0
  let cpuMs = 0
  while (cpuMs < seconds * 1000) {
    count += await run(vault)
    const { user, system } = process.cpuUsage(before)
    cpuMs = (user + system) / 1000
  }
  return cpuMs / count
}

function medianOf(numbers: readonly number[]): number {
  return numbers.toSorted((one, other) => one - other)[Math.floor(numbers.length / 2)] ?? 0
}

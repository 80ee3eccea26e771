import type { Command } from 'commander'
import type { CommandContext } from './command-context.ts'

interface UnsealOptions {
  readonly acceptLoss?: true
  readonly json?: true
}

export function registerUnseal(program: Command, context: CommandContext): void {
  program
    .command('unseal')
    .description('check passphrase, database and hash chain')
    .option(
      '--accept-loss',
      'accept that the audit log lost its last entries, and record that in it',
    )
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
Changes nothing, unless you accept a loss. Reads every page of the database. Beside a running hub, svc checks the passphrase
against the vault's config.json, and the hub checks everything else.

Examples:
  svc unseal
  svc unseal --json
`,
    )
    .action((options: UnsealOptions) => checkVault(context, options))
}

async function checkVault(context: CommandContext, options: UnsealOptions): Promise<void> {
  const { describeVerification, failIfBroken, verifyLog } = await import('./evento/verify-log.ts')
  const { output } = context
  const { path, faults } = await context.vault.checkPassphrase()
  const { isThroughHub, log } = await context.withAdmin(
    async (session) => ({
      isThroughHub: session.isThroughHub,
      log: await verifyLog(session.operations, context.progress),
    }),
    { acceptLoss: options.acceptLoss === true, checkPages: true },
  )
  if (options.json) {
    await output.writeJson({
      vault: path,
      through_hub: isThroughHub,
      passphrase: { ok: true, warnings: faults },
      database: { ok: true },
      hash_chain: log,
    })
  } else {
    const way = isThroughHub ? 'through the running hub' : 'opened directly'
    const warnings = faults.map((fault) => `warning: ${fault}\n`).join('')
    await output.write(`vault ${path}\npassphrase ok\n${warnings}database ok, ${way}\n`)
    if (log.ok) await output.write(`${describeVerification(log)}\n`)
  }
  failIfBroken(log)
}

import type { Command } from 'commander'
import { SvcError } from '../../platform/errors.ts'
import type { CommandContext } from './command-context.ts'

export const DOCTOR = 'doctor'

export function registerDoctor(program: Command, context: CommandContext): void {
  program
    .command(DOCTOR)
    .description('look for what is wrong with the hub and its machine, and say what to do')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
Disk, clock, CA, certificates, backlog, log, checkpoints, backups, files, limits, swap, core dumps, names and ports:
docs/reference/doctor.md has every check. The command changes nothing, asks for no passphrase, and ends within ten seconds. It works beside a running hub, through
--hub, and above all where the hub does not start. As root or as the vault's owner it sees everything.

The exit status is 0 when nothing is wrong, 1 with a warning or with something that it could not look at, 2 with an error.

Examples:
  svc doctor
  svc doctor --json
  svc --hub https://hub.example.org:8445 --token-file ~/.svc-token --hub-ca ca.crt doctor
`,
    )
    .action(async (options: { json?: true }) => {
      const { CHECKS } = await import('../../doctor/checks.ts')
      const { exitStatusOf, runChecks } = await import('../../doctor/run-checks.ts')
      const { jsonOf, renderResults, summarise } = await import('../../doctor/render-results.ts')
      const { output, clock } = context
      const results = await runChecks(CHECKS, await context.openScene())
      if (options.json) await output.writeJson(jsonOf(results, clock.now()))
      else await output.write(renderResults(output.language, results))
      const exitStatus = exitStatusOf(results)
      if (exitStatus === 0) return
      throw new SvcError('doctor_found', summarise(results) ?? 'something is wrong', { exitStatus })
    })
}

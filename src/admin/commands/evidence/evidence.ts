import type { Command } from 'commander'
import { flagOf } from '../../../protocol/spoken-words.ts'
import type { CommandContext } from '../command-context.ts'
import type { EvidenceOptions } from './make-evidence.ts'

export function registerEvidence(program: Command, context: CommandContext): void {
  program
    .command('evidence')
    .description('write what the log proves of each certificate, for an auditor')
    .requiredOption('--from <time>', 'entries at or after this time: a time, a date, or 30d')
    .requiredOption('--to <time>', 'and before this one')
    .option(`${flagOf('agente')} <host>`, 'of one agent: hostname or id')
    .option(
      '--ca-serials <file>',
      'what the CA says it issued, a serial a line; - for standard input',
    )
    .requiredOption('--out <file>', 'where to; - is standard output')
    .option('--replace', 'replace the file if it exists')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
For each certificate of the period: who asked for it, under what policy, when it was issued, installed, served, replaced and revoked, by
whose acts, each with the event of the log that says so. The file carries every event of the period with proofs up to a signed
checkpoint: tools/verify-evidence.py checks it without vault and hub. With --agent it carries the events about that agent only.

With --ca-serials svc compares the period with the CA: a certificate that the CA has and the log does not is rogue, one that the log has
and the CA does not is missing. Serials are decimal or hex, as step-ca and openssl print them.

The exit status is 0 when nothing stands out, 2 when a certificate is rogue or missing or when events of the period are gone, 1 when svc
could not make the file. With --out - it is 0 or 1.

Examples:
  svc evidence --from 2026-10-01 --to 2026-11-01 --ca-serials issued.txt --out october.evidence
  svc evidence --from 7d --to 0d --agent web-1.example.org --out web-1.evidence
  python3 tools/verify-evidence.py october.evidence --key "$(cat log.key)"
`,
    )
    .action(async (options: EvidenceOptions) => {
      const { makeEvidence } = await import('./make-evidence.ts')
      await makeEvidence(context, options)
    })
}

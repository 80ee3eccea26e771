import type { Command } from 'commander'
import type { AdminJoinedHost } from '../../../protocol/admin/join-rules.ts'
import type { AdminOperations } from '../../../protocol/admin/operations.ts'
import { printRowsAsTable } from '../../terminal/print-rows.ts'
import { type Columns, renderFields } from '../../terminal/table.ts'
import type { CommandContext } from '../command-context.ts'
import { readListPages } from '../list-pages.ts'
import { describeJoinRule } from './describe-join-rule.ts'

const COLUMNS: Columns<AdminJoinedHost> = {
  hostname: (host) => host.hostname,
  joined_at: (host) => host.joined_at,
  last_contact_at: (host) => host.last_contact_at,
  revoked_at: (host) => host.revoked_at,
  agente_id: (host) => host.agente_id,
}

export function registerJoinRuleShow(joinRule: Command, context: CommandContext): void {
  joinRule
    .command('show')
    .description('show one join rule and the hosts that joined by it')
    .argument('<rule>', 'its name or id')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
A host without an agent id was removed, or enrolled again by another token. The name is that of the newest rule of this name;
svc join-rule list --wide shows ids.

Examples:
  svc join-rule show web-images
  svc join-rule show web-images --json
`,
    )
    .action((name: string, options: { json?: true }) => show(context, name, options.json === true))
}

async function show(context: CommandContext, name: string, isJson: boolean): Promise<void> {
  const { output } = context
  await context.withAdmin(async ({ operations }) => {
    const rule = await operations.showJoinRule({ join_rule: name })
    const pages = readJoinedHosts(operations, rule.id)
    if (isJson) {
      const hosts: AdminJoinedHost[] = []
      for await (const page of pages) hosts.push(...page)
      return output.writeJson({ ...rule, joined: hosts })
    }
    await output.write(renderFields(output.language, describeJoinRule(rule)))
    if (rule.hosts === 0) return
    await output.write('\n')
    const printer = printRowsAsTable(output, COLUMNS)
    for await (const page of pages) {
      await printer.print(page)
      if (output.isClosed) return
    }
    await printer.end()
  })
}

export function readJoinedHosts(
  operations: AdminOperations,
  rule: string,
): AsyncGenerator<readonly AdminJoinedHost[]> {
  return readListPages(
    (page) => operations.listJoinedHosts({ join_rule: rule, ...page }),
    (page) => page.hosts,
  )
}

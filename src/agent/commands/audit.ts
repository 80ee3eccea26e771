// What the agent holds of the hub's audit log, as a witness: from its own files, without the hub.

import {
  describeKnownLog,
  type LogDescription,
  readKnownLog,
  setKnownLogAside,
} from '../witness/log-watch.ts'
import { describeReceipts, type ReceiptsDescription } from '../witness/receipts.ts'
import { type Environment, print, startCommand } from './context.ts'

const EXIT_ALARM = 2

export async function runAudit(
  env: Environment,
  options: { readonly json: boolean; readonly reset: boolean },
): Promise<void> {
  const { paths, clock } = await startCommand('audit', env)
  if (options.reset) {
    const aside = await setKnownLogAside(paths, clock.now())
    const text =
      aside.length === 0 ? 'there is nothing to set aside' : `set aside: ${aside.join(', ')}`
    await print({ set_aside: aside }, options, text)
    return
  }
  const description = describeKnownLog(await readKnownLog(paths))
  const evidence = description.state === 'alarm' ? { evidence: paths.logAlarmsFile } : {}
  const receipts = await describeReceipts(paths.receiptsFile)
  const text = [...format(description, paths.logAlarmsFile), ...formatReceipts(receipts)]
  await print({ ...description, ...evidence, receipts }, options, text.join('\n'))
  if (description.state === 'alarm') process.exitCode = EXIT_ALARM
}

function format(log: LogDescription, alarmsFile: string): string[] {
  const seen = `log ${log.origin}: ${log.entries} entries, checked at ${log.checked_at}`
  if (log.state === 'good') return [seen]
  if (log.state === 'unknown') return ['the hub has shown no checkpoint of its log yet']
  return [
    ...log.alarms.map(({ at, reason }) => `ALARM at ${at}: ${reason}`),
    ...(log.origin === null ? [] : [seen]),
    `evidence: ${alarmsFile}`,
  ]
}

function formatReceipts({ count, newest_at: newest, file }: ReceiptsDescription): string[] {
  if (count === 0) return []
  return [`receipts of this host’s events: ${count}, the newest of ${newest}, in ${file}`]
}

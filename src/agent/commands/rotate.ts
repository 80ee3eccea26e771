import { type Static, Type } from 'typebox'
import { Check } from 'typebox/value'
import { invariant } from '../../platform/errors.ts'
import { requireIdentity } from '../identity/identity.ts'
import { openSession, type Rotation, rotateAndReport } from '../identity/session.ts'
import { viaRunningAgentOr } from '../control/singleton.ts'
import { type Environment, print, startCommand } from './context.ts'

const RotationReport = Type.Object({ old_serial: Type.String(), new_serial: Type.String() })
type RotationReport = Static<typeof RotationReport>

export async function runRotate(env: Environment, options: { json: boolean }): Promise<void> {
  const context = await startCommand('rotate', env)
  const { paths, clock } = context
  await requireIdentity(paths.identityDir)
  const report = await viaRunningAgentOr(paths, clock, 'rotate', async () => {
    const session = await openSession(context)
    try {
      return reportOf(await rotateAndReport(session))
    } finally {
      await session.hub.close()
    }
  })
  invariant(Check(RotationReport, report), 'rotate answers with two serials')
  await print(report, options, `old serial: ${report.old_serial}\nnew serial: ${report.new_serial}`)
}

/** Also what the running agent answers. */
export function reportOf({ oldSerial, newSerial }: Rotation): RotationReport {
  return { old_serial: oldSerial, new_serial: newSerial }
}

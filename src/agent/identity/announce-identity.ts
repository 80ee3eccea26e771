// Each renewed identity is reported once. The identity carries the id of its own event, so that a crash between
// renewal and report neither loses the event nor sends a second one.

import { readTextIfPresent, replaceFile } from '../../platform/files.ts'
import type { Outbox } from '../hub/outbox.ts'
import { identityRenewed } from '../hub/wire.ts'
import type { Identity } from './identity.ts'

export async function announceIdentity(
  { leaf, record }: Identity,
  outbox: Pick<Outbox, 'enqueue'>,
  announcedFile: string,
): Promise<void> {
  if (record === undefined || record.renewal === null) return
  if ((await readTextIfPresent(announcedFile, 1024))?.trim() === record.request_id) return
  const { old_serial: oldSerial, trigger } = record.renewal
  await outbox.enqueue(
    identityRenewed({ oldSerial, newSerial: leaf.serial, trigger }),
    record.request_id,
  )
  await replaceFile(announcedFile, `${record.request_id}\n`, 0o600)
}

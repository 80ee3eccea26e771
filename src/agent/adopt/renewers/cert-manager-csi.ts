// cert-manager's csi driver: a volume of a pod, which Kubernetes fills. What renews it is not on this host.

import { join } from 'node:path'
import type { FindRenewer } from './renewer.ts'

const VOLUME = /^(.*\/volumes\/kubernetes\.io~csi\/([^/]+))\/mount\//

export const findCertManagerCsi: FindRenewer = (reader, { realPath }) => {
  const [, volume, name] = VOLUME.exec(realPath) ?? []
  if (volume === undefined || name === undefined) return []
  const description = reader.read(join(volume, 'vol_data.json')) ?? ''
  if (!/"driverName"\s*:\s*"csi\.cert-manager\.io"/.test(description)) return []
  const notes = ['Kubernetes fills this volume: take it out of the pod, and give the service files']
  return [{ kind: 'cert-manager csi', name, stop: undefined, notes }]
}

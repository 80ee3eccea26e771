// Code that the hub served cannot convict the hub: what checks the log from elsewhere, as commands that work when pasted.

import type { JSX } from 'preact'
import { Command } from '../../parts/command.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { words } from '../../words/words.ts'

export function TrustDialog({ onClose }: { readonly onClose: () => void }): JSX.Element {
  const { audit, frame } = words()
  return (
    <Dialog title={audit.trustTitle} onClose={onClose} isWide>
      <div class="body trust">
        <p>{audit.trustWhy}</p>
        <p class="muted">{audit.trustConsole}</p>
        {TRUST_COMMANDS.keep.map((command) => (
          <Command key={command} text={command} />
        ))}
        <p class="muted">{audit.trustVerify}</p>
        {TRUST_COMMANDS.verify.map((command) => (
          <Command key={command} text={command} />
        ))}
        <p class="muted">{audit.trustExport}</p>
        {TRUST_COMMANDS.export.map((command) => (
          <Command key={command} text={command} />
        ))}
        <p class="muted">{audit.trustEvidence}</p>
        {TRUST_COMMANDS.evidence.map((command) => (
          <Command key={command} text={command} />
        ))}
      </div>
      <div class="dialog-actions">
        <button type="button" class="button" onClick={onClose}>
          {frame.close}
        </button>
      </div>
    </Dialog>
  )
}

/** Each is of `svc … --help`. */
export const TRUST_COMMANDS = {
  keep: ['svc checkpoint --key > log.key', 'svc checkpoint > kept.checkpoint'],
  verify: ['svc event list --verify --limit 1 --key "$(cat log.key)" --checkpoint kept.checkpoint'],
  export: [
    'svc event export --out log.export',
    'svc event verify log.export --key "$(cat log.key)" --checkpoint kept.checkpoint',
  ],
  evidence: ['svc evidence --from 30d --to 0d --out month.evidence'],
} as const

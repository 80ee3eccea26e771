// What is wrong with the log, in words, and where to look.

import type { JSX } from 'preact'
import { hrefOf } from '../../frame/router.ts'
import { describeTime, formatCount } from '../../parts/time.tsx'
import { words } from '../../words/words.ts'
import type { Anchor } from './anchor.ts'
import type { Finding } from './decide-log-verdict.ts'
import { logCheck } from './log-check.ts'

export function titleOfFinding(finding: Finding): string {
  const { audit } = words()
  const say = audit.verdict
  if (finding.kind === 'entry') return say.badEntry(formatCount(finding.seq))
  if (finding.kind === 'tree') return say.tree
  if (finding.kind === 'key') return say.key
  if (finding.kind === 'signature') return say.signature
  const { anchor } = logCheck.value
  return say.rewritten(anchor === undefined ? '' : describeTime(anchor.keptAt))
}

export function FindingDetails({
  finding,
  anchor,
}: {
  readonly finding: Finding
  readonly anchor: Anchor | undefined
}): JSX.Element {
  const { audit } = words()
  const say = audit.verdict
  if (finding.kind === 'entry') {
    return (
      <>
        <p>{say.badEntryWhy}</p>
        <p>
          {say.reason}: <code>{finding.reason}</code>.{' '}
          <a class="link" href={hrefOf(`/audit/${finding.seq}`, { routine: 'true' })}>
            {say.showEntry}
          </a>
        </p>
      </>
    )
  }
  if (finding.kind === 'tree') return <p>{say.treeWhy(formatCount(finding.size))}</p>
  if (finding.kind === 'signature') return <p>{say.signatureWhy}</p>
  if (finding.kind === 'rewritten') {
    return <p>{say.rewrittenWhy(formatCount(anchor?.place.seq ?? 0), formatCount(finding.has))}</p>
  }
  return (
    <>
      <p>{say.keyWhy}</p>
      <dl class="keys">
        <dt>{say.keyWas}</dt>
        <dd>
          <code>{finding.was}</code>
        </dd>
        <dt>{say.keyIs}</dt>
        <dd>
          <code>{finding.is}</code>
        </dd>
      </dl>
    </>
  )
}

// docs/reference/tests.md: what the second tier of the tests has that the first has not.

import { table } from './docs-pages.ts'
import { SECOND_TIER } from './test-tiers.ts'

interface Held {
  readonly id: string
  readonly paths: readonly string[]
}

export function renderTests(heldBySecondTier: readonly Held[]): string {
  const files = SECOND_TIER.map(({ path, proves, why }) => [`\`${path}\``, proves, why])
  const statements = heldBySecondTier.map(({ id, paths }) => [
    id,
    paths.map((path) => `\`${path}\``).join(', '),
  ])
  return `# Tests

\`npm test\` runs the first tier, \`npm run test:all\` both; [CONTRIBUTING.md](../../CONTRIBUTING.md) says what each costs and proves.

## The second tier

Every test file whose path begins so; all others are in the first tier.

${table(['files', 'what they prove', 'why they are not in the first tier'], files)}
## Statements held only by the second tier

No test of the first tier cites these ${statements.length} statements of [the protocol](../protocol.md).

${table(['statement', 'cited in'], statements)}`
}

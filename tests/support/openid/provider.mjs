// A real OpenID provider. Anybody gets in with any password; what they are called says which groups they are in.
import Provider from "oidc-provider";

const issuer = new URL(process.env.ISSUER);
const groups = { guest: ["guests"], stranger: [] };

const provider = new Provider(process.env.ISSUER, {
  clients: JSON.parse(process.env.CLIENTS),
  claims: { openid: ["sub"], profile: ["preferred_username", "groups"], email: ["email"] },
  features: { devInteractions: { enabled: true }, deviceFlow: { enabled: true } },
  pkce: { required: (ctx, client) => client.clientId === "limes" },
  findAccount: (ctx, id) => ({
    accountId: id,
    claims: () => ({ sub: id, preferred_username: id, email: `${id}@example.com`, groups: groups[id] ?? ["staff"] }),
  }),
});
provider.listen(Number(issuer.port), issuer.hostname);

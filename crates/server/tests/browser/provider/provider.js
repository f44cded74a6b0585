// An OpenID provider on loopback, for the browser journeys: `node provider.js REDIRECT_URI SECRET`.
// Anybody signs in by typing a name; what is said about them stands below. Prints its address.
import { createServer } from "node:http";
import Provider from "oidc-provider";

const [redirect, secret] = process.argv.slice(2);
const PEOPLE = {
  ada: { email: "ada@example.com", email_verified: true, name: "Ada Lovelace", groups: ["ops-team", "admins"] },
  bob: { email: "bob@example.com", email_verified: true, name: "Bob", groups: ["ops-team"] },
  eve: { email: "ada@example.com", email_verified: false, name: "Eve", groups: ["admins"] },
};

const server = createServer();
server.listen(0, "127.0.0.1", () => {
  const issuer = `http://localhost:${server.address().port}`;
  const provider = new Provider(issuer, {
    clients: [{
      client_id: "countersign",
      client_secret: secret,
      redirect_uris: [redirect],
      post_logout_redirect_uris: [new URL("/sign-in", redirect).href],
    }],
    claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name"], groups: ["groups"] },
    scopes: ["openid", "email", "profile", "groups"],
    pkce: { required: () => true },
    cookies: { keys: ["for tests only"] },
    findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id, ...PEOPLE[id] }) }),
  });
  server.on("request", provider.callback());
  console.log(issuer);
});

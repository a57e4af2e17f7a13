import type { IAuthenticateGeneric, ICredentialTestRequest, ICredentialType, INodeProperties } from "n8n-workflow";

export class BookflowApi implements ICredentialType {
  name = "bookflowApi";
  displayName = "Bookflow API";
  icon = "file:../nodes/bookflow.svg" as const;
  documentationUrl = "https://www.npmjs.com/package/n8n-nodes-bookflow";

  properties: INodeProperties[] = [
    {
      displayName: "Address",
      name: "baseUrl",
      type: "string",
      default: "",
      required: true,
      placeholder: "https://bookings.example.com",
    },
    {
      displayName: "API Key",
      name: "apiKey",
      type: "string",
      typeOptions: { password: true },
      default: "",
      required: true,
      description: "The scopes that it needs are in the guide. The trigger needs bookings and manage.",
    },
  ];

  authenticate: IAuthenticateGeneric = {
    type: "generic",
    properties: { headers: { Authorization: "=Bearer {{$credentials.apiKey}}" } },
  };

  // Any key can list widgets.
  test: ICredentialTestRequest = {
    request: { baseURL: '={{$credentials.baseUrl.replace(/\\/+$/, "")}}', url: "/api/v1/widgets" },
  };
}

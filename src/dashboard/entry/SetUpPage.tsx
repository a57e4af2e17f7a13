import { Alert, Select, Stack, Text, Title } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { ENTRY_PAGES } from "#contract/app/addresses.ts";
import { describeRetention, PLAN_TERMS, PLANS, type Plan } from "#contract/plans.ts";
import { call } from "../api/call.ts";
import { optionsQuery } from "../api/queries.ts";
import { useAction } from "../hooks/use-action.ts";
import { useUrlState } from "../hooks/use-url-state.ts";
import { pathsOf } from "../paths.ts";
import { ActionForm } from "../ui/forms/ActionForm.tsx";
import { guessTimeZone } from "../ui/forms/TimeZoneSelect.tsx";
import { ButtonLink } from "../ui/layout/links.tsx";
import { Loaded } from "../ui/states/Loaded.tsx";
import { AccountFields, OrganizationFields } from "./AccountFields.tsx";
import { EntryFrame } from "./EntryFrame.tsx";

const DEFAULTS = { token: "" };

const DESCRIPTION = "Create your account and your first organization. You’ll be its owner and can invite others later.";

/** First run: the person who opens the printed setup link becomes the first owner. */
export function SetUpPage() {
  const [{ token }] = useUrlState(DEFAULTS);
  const options = useQuery(optionsQuery);
  return (
    <EntryFrame title="Set up Bookflow" description={options.data?.isSetUpNeeded && DESCRIPTION}>
      <Loaded query={options} rows={6}>
        {({ isSetUpNeeded, defaultPlan }) =>
          isSetUpNeeded ? (
            token === "" ? (
              <Alert color="yellow">
                This link is incomplete. Open the full setup link that Bookflow printed when it started.
              </Alert>
            ) : (
              <SetUpForm token={token} defaultPlan={defaultPlan} />
            )
          ) : (
            <Stack gap="md">
              <Alert color="petrol">Bookflow is already set up.</Alert>
              <ButtonLink to={ENTRY_PAGES.signIn}>Sign in</ButtonLink>
            </Stack>
          )
        }
      </Loaded>
    </EntryFrame>
  );
}

function SetUpForm({ token, defaultPlan }: { token: string; defaultPlan: Plan }) {
  const navigate = useNavigate();
  const queries = useQueryClient();
  const form = useForm({
    initialValues: {
      name: "",
      email: "",
      password: "",
      organizationName: "",
      timeZone: guessTimeZone(),
      plan: defaultPlan,
    },
  });
  const setUp = useAction({
    run: (values: ReturnType<typeof form.getValues>) => call("setUp", { body: { token, ...values } }),
    form,
    onDone: ({ id }) => {
      queries.clear();
      void navigate({ to: pathsOf(id).start, replace: true });
    },
  });
  return (
    <ActionForm form={form} action={setUp} label="Set up Bookflow">
      <Title order={2} size="h3">
        Your account
      </Title>
      <AccountFields form={form} />
      <Title order={2} size="h3" mt="xs">
        Your organization
      </Title>
      <OrganizationFields form={form} name="organizationName" />
      <Select
        label="Plan"
        description="Business includes everything. The operator of this server can change the plan later."
        data={PLANS.map((plan) => ({ value: plan, label: PLAN_TERMS[plan].name }))}
        renderOption={({ option }) => (
          <div>
            {option.label}
            <Text size="xs" c="dimmed">
              {PLAN_USES[option.value as Plan]} Data is kept for {describeRetention(PLAN_TERMS[option.value as Plan])}.
            </Text>
          </div>
        )}
        allowDeselect={false}
        required
        {...form.getInputProps("plan")}
      />
    </ActionForm>
  );
}

const PLAN_USES: Record<Plan, string> = {
  free: "Analytics and stored bookings.",
  pro: "Also webhooks and CSV export.",
  business: "Also the read API.",
};
